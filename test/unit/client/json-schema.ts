/** As much of JSON Schema (draft 2020-12) as the schemas of commands and messages use; a keyword beyond that throws. */
import { isDeepStrictEqual } from "node:util";
import type { JsonSchema } from "../../../client/index.ts";

const silent = new Set(["$schema", "title", "description", "default"]);

/** What is wrong with a value, each with its path; empty where it is valid. */
export function faultsOf(schema: JsonSchema, value: unknown, path = "$"): readonly string[] {
  return Object.entries(schema).flatMap(([keyword, rule]) => {
    if (silent.has(keyword) || holds(keyword, rule, schema, value)) return [];
    const inner = innerFaults(keyword, schema, value, path);
    return inner ?? [`${path} breaks ${keyword} ${JSON.stringify(rule)}`];
  });
}

const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const has = (value: object, name: string): boolean => Object.hasOwn(value, name);

function innerFaults(keyword: string, schema: JsonSchema, value: unknown, path: string): readonly string[] | undefined {
  switch (keyword) {
    case "properties":
      if (!isObject(value)) return [];
      return Object.entries(schema.properties ?? {}).flatMap(([name, each]) =>
        has(value, name) && typeof each === "object" ? faultsOf(each, value[name], `${path}.${name}`) : [],
      );
    case "items": {
      const { items } = schema;
      if (!Array.isArray(value) || typeof items !== "object" || Array.isArray(items)) return [];
      return value.flatMap((element, index) => faultsOf(items, element, `${path}[${index}]`));
    }
    default:
      return undefined;
  }
}

function holds(keyword: string, rule: unknown, schema: JsonSchema, value: unknown): boolean {
  switch (keyword) {
    case "type":
      return rule === typeOf(value) || (rule === "number" && typeOf(value) === "integer");
    case "const":
      return isDeepStrictEqual(rule, value);
    case "enum":
      return Array.isArray(rule) && rule.some((each) => isDeepStrictEqual(each, value));
    case "required":
      return !isObject(value) || (schema.required ?? []).every((name) => has(value, name));
    case "additionalProperties": {
      if (rule !== false) throw new Error("additionalProperties other than false is not read here");
      return !isObject(value) || Object.keys(value).every((name) => has(schema.properties ?? {}, name));
    }
    case "minLength":
      return typeof value !== "string" || [...value].length >= Number(rule);
    case "maxLength":
      return typeof value !== "string" || [...value].length <= Number(rule);
    case "pattern":
      return typeof value !== "string" || new RegExp(String(rule), "u").test(value);
    case "minimum":
      return typeof value !== "number" || value >= Number(rule);
    case "maximum":
      return typeof value !== "number" || value <= Number(rule);
    case "minItems":
      return !Array.isArray(value) || value.length >= Number(rule);
    case "oneOf":
      return (
        (schema.oneOf ?? []).filter((each) => typeof each === "object" && faultsOf(each, value).length === 0).length ===
        1
      );
    case "properties":
    case "items":
      return false;
    default:
      throw new Error(`${keyword} is not read here`);
  }
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

/** The names of all members that a schema speaks of, however deep, each once. */
export function membersOf(schema: JsonSchema): readonly string[] {
  const { items } = schema;
  const inner = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.oneOf ?? []),
    ...(items === undefined || Array.isArray(items) ? [] : [items]),
  ];
  const names = inner.flatMap((each) => (typeof each === "object" ? membersOf(each) : []));
  return [...new Set([...Object.keys(schema.properties ?? {}), ...names])];
}
