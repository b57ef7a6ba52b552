/** `{ "$output": node_id, "pointer": "/a/b" }` in an input stands for a part of another node's output; `{ "$literal": … }` escapes. */
import * as z from "zod";
import type { Json } from "./json.ts";
import { idSchema } from "./model.ts";

/** JSON Pointer, RFC 6901: empty, or parts that each begin with a slash; `~` only as `~0` or `~1`. */
const pointerSchema = z
  .string()
  .regex(/^(\/([^~/]|~[01])*)*$/, "must be a JSON Pointer: empty, or /part/part with ~0 for ~ and ~1 for /");
const referenceSchema = z.strictObject({ $output: idSchema, pointer: pointerSchema.default("") });
export type Reference = z.infer<typeof referenceSchema>;

type Part =
  | { readonly is: "plain"; readonly value: Json }
  | { readonly is: "literal"; readonly value: Json }
  | { readonly is: "reference"; readonly reference: Reference }
  | { readonly is: "fault"; readonly rule: string };

const isObject = (value: Json): value is { readonly [name: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function partOf(value: Json): Part {
  if (!isObject(value)) return { is: "plain", value };
  if (Object.hasOwn(value, "$literal")) {
    if (Object.keys(value).length > 1) return { is: "fault", rule: "an object with $literal must hold nothing else" };
    return { is: "literal", value: value.$literal ?? null };
  }
  if (!Object.hasOwn(value, "$output")) return { is: "plain", value };
  const parsed = referenceSchema.safeParse(value);
  if (parsed.success) return { is: "reference", reference: parsed.data };
  const issue = parsed.error.issues[0];
  return {
    is: "fault",
    rule: `a reference must be { "$output": node_id, "pointer"?: JSON Pointer }: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`,
  };
}

export type ReferenceFault = { readonly rule: string; readonly value: Json };

/** All references of an input, and the faults of those that are none. */
export function referencesIn(input: Json): {
  readonly references: readonly Reference[];
  readonly faults: readonly ReferenceFault[];
} {
  const references: Reference[] = [];
  const faults: ReferenceFault[] = [];
  const visit = (value: Json): void => {
    const part = partOf(value);
    switch (part.is) {
      case "reference":
        references.push(part.reference);
        return;
      case "fault":
        faults.push({ rule: part.rule, value });
        return;
      case "literal":
        return;
      case "plain":
        if (Array.isArray(value)) value.forEach(visit);
        else if (isObject(value)) Object.values(value).forEach(visit);
        return;
      default:
        part satisfies never;
    }
  };
  visit(input);
  return { references, faults };
}

/** @throws Error where a pointer leads to nothing. */
export function resolveReferences(input: Json, outputOf: (nodeId: string) => Json): Json {
  const part = partOf(input);
  switch (part.is) {
    case "reference":
      return follow(outputOf(part.reference.$output), part.reference);
    case "literal":
      return part.value;
    case "fault":
      throw new Error(part.rule);
    case "plain":
      if (Array.isArray(input)) return input.map((value: Json) => resolveReferences(value, outputOf));
      if (isObject(input)) {
        // fromEntries defines members, so a member named __proto__ stays one.
        return Object.fromEntries(
          Object.entries(input).map(([name, value]) => [name, resolveReferences(value, outputOf)]),
        );
      }
      return input;
    default:
      return part satisfies never;
  }
}

function follow(output: Json, reference: Reference): Json {
  let value: Json | undefined = output;
  const parts = reference.pointer.split("/").slice(1);
  for (const part of parts) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(value)) value = /^(0|[1-9]\d*)$/.test(name) ? value[Number(name)] : undefined;
    else value = value !== undefined && isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    if (value === undefined) {
      throw new Error(
        `$output ${JSON.stringify(reference.$output)} has nothing at pointer ${JSON.stringify(reference.pointer)}`,
      );
    }
  }
  return value;
}
