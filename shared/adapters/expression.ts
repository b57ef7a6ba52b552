/**
 * A write as the parameters of DynamoDB. Names and values always go through placeholders: a name may be a reserved word
 * or hold any character (Constraints.html), and a value may hold anything.
 */
import type { PutCommandInput, TransactWriteCommandInput, UpdateCommandInput } from "@aws-sdk/lib-dynamodb";
import type { Condition, Item, Put, Update, Value, Write } from "../write.ts";

export type TransactItem = NonNullable<TransactWriteCommandInput["TransactItems"]>[number];

type Native = string | number | boolean | Set<number>;
const native = (value: Value): Native => (typeof value === "object" ? new Set(value) : value);

const nativeItem = (item: Item): Record<string, Native> =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, native(value)]));

type Placeholders = {
  /** The placeholder of an attribute; the same one each time. */
  name(attr: string): string;
  value(value: Value): string;
  /** Left out where nothing was asked for, since DynamoDB refuses empty maps. */
  maps(): { ExpressionAttributeNames?: Record<string, string>; ExpressionAttributeValues?: Record<string, Native> };
};

function placeholders(): Placeholders {
  const names = new Map<string, string>();
  const values = new Map<string, Native>();
  return {
    name: (attr) => {
      const placeholder = names.get(attr) ?? `#n${names.size}`;
      names.set(attr, placeholder);
      return placeholder;
    },
    value: (value) => {
      const placeholder = `:v${values.size}`;
      values.set(placeholder, native(value));
      return placeholder;
    },
    maps: () => ({
      ...(names.size > 0 && {
        ExpressionAttributeNames: Object.fromEntries([...names].map(([attr, placeholder]) => [placeholder, attr])),
      }),
      ...(values.size > 0 && { ExpressionAttributeValues: Object.fromEntries(values) }),
    }),
  };
}

const comparators = { equal: "=", below: "<", atMost: "<=", above: ">", atLeast: ">=" } as const;

function conditionText(condition: Condition, slots: Placeholders): string {
  if ("anyOf" in condition) {
    // AND binds before OR, so alternatives need no parentheses; DynamoDB refuses doubled ones as redundant.
    const alternatives = condition.anyOf.map((all) => allText(all, slots)).join(" OR ");
    return condition.anyOf.length === 1 ? alternatives : `(${alternatives})`;
  }
  const name = slots.name(condition.attr);
  switch (condition.is) {
    case "exists":
      return `attribute_exists(${name})`;
    case "missing":
      return `attribute_not_exists(${name})`;
    case "equal":
    case "below":
    case "atMost":
    case "above":
    case "atLeast":
      return `${name} ${comparators[condition.is]} ${slots.value(condition.value)}`;
    case "belowAttribute":
      return `${name} < ${slots.name(condition.other)}`;
    case "notEqual":
      // Alone, `<>` also holds where the attribute is missing.
      return `attribute_exists(${name}) AND ${name} <> ${slots.value(condition.value)}`;
    case "oneOf":
      return `${name} IN (${condition.values.map((value) => slots.value(value)).join(", ")})`;
    default:
      throw condition satisfies never;
  }
}

const allText = (conditions: readonly Condition[], slots: Placeholders): string =>
  conditions.map((condition) => conditionText(condition, slots)).join(" AND ");

function section<Entry>(keyword: string, entries: readonly Entry[], text: (entry: Entry) => string): string[] {
  return entries.length === 0 ? [] : [`${keyword} ${entries.map(text).join(", ")}`];
}

function updateText(update: Update, slots: Placeholders): string {
  const sets: [string, Value, "always" | "ifMissing"][] = [
    ...Object.entries(update.set ?? {}).map(([attr, value]): [string, Value, "always"] => [attr, value, "always"]),
    ...Object.entries(update.setIfMissing ?? {}).map(([attr, value]): [string, Value, "ifMissing"] => [
      attr,
      value,
      "ifMissing",
    ]),
  ];
  return [
    ...section("SET", sets, ([attr, value, when]) => {
      const name = slots.name(attr);
      return when === "always"
        ? `${name} = ${slots.value(value)}`
        : `${name} = if_not_exists(${name}, ${slots.value(value)})`;
    }),
    ...section("REMOVE", update.remove ?? [], (attr) => slots.name(attr)),
    ...section("ADD", Object.entries(update.add ?? {}), ([attr, by]) => `${slots.name(attr)} ${slots.value(by)}`),
    ...section(
      "DELETE",
      Object.entries(update.deleteFromSet ?? {}),
      ([attr, members]) => `${slots.name(attr)} ${slots.value(members)}`,
    ),
  ].join(" ");
}

/** The old item is asked for on every action: it costs no read units (API_UpdateItem.html). */
const withOldItem = { ReturnValuesOnConditionCheckFailure: "ALL_OLD" } as const;

function putParts(put: Put, tableName: string) {
  const slots = placeholders();
  const condition = allText(put.conditions, slots);
  return {
    TableName: tableName,
    Item: { ...nativeItem(put.item), pk: put.key.pk, sk: put.key.sk },
    ...(condition !== "" && { ConditionExpression: condition }),
    ...slots.maps(),
    ...withOldItem,
  };
}

function updateParts(update: Update, tableName: string) {
  const slots = placeholders();
  // UpdateItem creates a missing item (API_UpdateItem.html), and no update here means that.
  const condition = allText([{ attr: "pk", is: "exists" }, ...update.conditions], slots);
  return {
    TableName: tableName,
    Key: { pk: update.key.pk, sk: update.key.sk },
    UpdateExpression: updateText(update, slots),
    ConditionExpression: condition,
    ...slots.maps(),
    ...withOldItem,
  };
}

export const putParameters = (put: Put, tableName: string): PutCommandInput => putParts(put, tableName);

export const updateParameters = (update: Update, tableName: string): UpdateCommandInput => ({
  ...updateParts(update, tableName),
  ReturnValues: "ALL_NEW",
});

export function transactItem(write: Write, tableName: string): TransactItem {
  switch (write.op) {
    case "put":
      return { Put: putParts(write, tableName) };
    case "update":
      return { Update: updateParts(write, tableName) };
    default:
      throw write satisfies never;
  }
}
