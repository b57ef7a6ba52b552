/** Whether a condition holds, decided in memory just as DynamoDB decides the expression that `expression.ts` makes of it. */
import type { Condition, Item, Value } from "../write.ts";
import { compareUtf8 } from "./utf8-order.ts";

function sameValue(left: Value, right: Value): boolean {
  if (typeof left === "object" && typeof right === "object")
    return left.size === right.size && [...left].every((member) => right.has(member));
  return left === right;
}

/** `item` is undefined where there is none. */
function holds(condition: Condition, item: Item | undefined): boolean {
  if ("anyOf" in condition) return condition.anyOf.some((all) => holdAll(all, item));
  const found = item !== undefined && Object.hasOwn(item, condition.attr) ? item[condition.attr] : undefined;
  switch (condition.is) {
    case "exists":
      return found !== undefined;
    case "missing":
      return found === undefined;
    case "equal":
      return found !== undefined && sameValue(found, condition.value);
    case "notEqual":
      return found !== undefined && !sameValue(found, condition.value);
    case "below":
      return typeof found === "number" && found < condition.value;
    case "atMost":
      return typeof found === "number" && found <= condition.value;
    case "above":
      return typeof found === "number" && found > condition.value;
    case "atLeast":
      return typeof found === "number" && found >= condition.value;
    case "belowAttribute": {
      const other = item !== undefined && Object.hasOwn(item, condition.other) ? item[condition.other] : undefined;
      if (typeof found === "string" && typeof other === "string") return compareUtf8(found, other) < 0;
      return typeof found === "number" && typeof other === "number" && found < other;
    }
    case "oneOf":
      return typeof found === "string" && condition.values.includes(found);
    default:
      throw condition satisfies never;
  }
}

export const holdAll = (conditions: readonly Condition[], item: Item | undefined): boolean =>
  conditions.every((condition) => holds(condition, item));
