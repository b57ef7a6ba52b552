/** Typed references to the outputs of nodes: what they are in a program, and what becomes of them in a node's input. */
import { fixed } from "../shared/limits.ts";

declare const stands: unique symbol;
/** Stands for a value of this type, wherever a node's input wants one. */
export type StandsFor<T> = { readonly [stands]: T };

/**
 * A reference to a part of a node's output, and by its members to the parts of that part: `buy.output.code`,
 * `list.output.items[0]`. What may not be there when the run comes to it (an optional member, an element of a list, a member
 * of a record, of one alternative of a union or of what may be null) is a reference to `T | undefined`, which no input
 * takes: the node would fail. `present` says that it will be there.
 */
export type Ref<T> = [T] extends [never]
  ? UntypedRef
  : 0 extends 1 & T
    ? UntypedRef
    : StandsFor<T> &
        ([Exclude<T, Primitive>] extends [never]
          ? unknown
          : Members<Exclude<T, Primitive>, [Extract<T, Primitive>] extends [never] ? never : undefined>);

/** To the output of a node whose tool is given by its name: any member, and fit for any input. */
export type UntypedRef = StandsFor<never> & { readonly [name: string]: UntypedRef };

type Primitive = string | number | bigint | boolean | symbol | null | undefined;

type Members<T, Missing> = { readonly [Key in KnownKeys<T>]: Ref<Part<T, Key> | Missing> } & ([OpenPart<T>] extends [
  never,
]
  ? unknown
  : { readonly [name: string]: Ref<OpenPart<T> | undefined> }) &
  ([Element<T>] extends [never] ? unknown : { readonly [index: number]: Ref<Element<T> | undefined> });

/** Of each alternative of a union. A member `toJSON` is left out: a reference uses that name itself. */
type KnownKeys<T> = T extends readonly unknown[]
  ? Extract<keyof T, `${number}`>
  : keyof {
      [Key in keyof T as string extends Key ? never : number extends Key ? never : Exclude<Key, symbol | "toJSON">]: 1;
    };

type Part<T, Key> = T extends unknown
  ? Key extends keyof T
    ? T[Key] | (Record<never, never> extends Pick<T, Key> ? undefined : never)
    : undefined
  : never;
type OpenPart<T> = T extends readonly unknown[] ? never : string extends keyof T ? T[keyof T & string] : never;
type Element<T> = T extends readonly (infer Each)[] ? (number extends T["length"] ? Each : never) : never;

/** A value in which any part may be a reference to one of its type. Where anything fits, a reference does too. */
export type WithRefs<T> = unknown extends T
  ? unknown
  : [AnyJson] extends [T]
    ? JsonWithRefs
    : StandsFor<ReadonlyList<Exclude<T, undefined>>> | Parts<T>;

/** Nobody changes what is sent, so a list that may not be changed will do. */
type ReadonlyList<T> = T extends readonly unknown[] ? Readonly<T> : T;

/** As `z.json()` has it. */
type AnyJson = string | number | boolean | null | AnyJson[] | { [name: string]: AnyJson };
/** Apart, since the parts of what is made of itself would have no end. */
type JsonWithRefs =
  | StandsFor<Record<never, never> | null>
  | Exclude<AnyJson, object>
  | readonly JsonWithRefs[]
  | ({ readonly [name: string]: JsonWithRefs } & { readonly [stands]?: never });

type Parts<T> = T extends Primitive
  ? T
  : T extends readonly unknown[]
    ? { readonly [Index in keyof T]: WithRefs<T[Index]> }
    : // A reference has no member but this one, so it would fit where all members are optional.
      { readonly [Key in keyof T]: WithRefs<T[Key]> } & { readonly [stands]?: never };

/** Registered, so that a reference made by another copy of this package is known as one. */
const inside = Symbol.for("leasehold.reference");

export type Target = {
  /** The graph that the node belongs to; compared by identity. */
  readonly graph: object;
  readonly nodeId: string;
  /** JSON Pointer. */
  readonly pointer: string;
};

/**
 * Any member of it leads on, so it has none of its own but `toJSON`: awaited it is itself, and as text or spread it throws,
 * since there is no value yet.
 */
export function refTo(target: Target): StandsFor<unknown> {
  const wrong = (what: string): Error =>
    new Error(
      `the output of node ${JSON.stringify(target.nodeId)} (${target.pointer || "all of it"}) must be handed on as a whole, got ${what}: there is no value before the node has run`,
    );
  const bare: StandsFor<unknown> = Object.freeze(Object.create(null));
  return new Proxy(bare, {
    get: (_, name) => {
      if (name === inside) return target;
      if (name === Symbol.toPrimitive) {
        return () => {
          throw wrong("a use as text or number");
        };
      }
      if (typeof name === "symbol") return undefined;
      if (name === "toJSON") return () => written(target);
      return refTo({ ...target, pointer: `${target.pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}` });
    },
    ownKeys: () => {
      throw wrong("a look at its members, as by spreading it");
    },
  });
}

/** @returns undefined for what is no reference. */
export function targetOf(value: unknown): Target | undefined {
  return typeof value === "object" && value !== null ? Reflect.get(value, inside) : undefined;
}

const written = ({ nodeId, pointer }: Target) => ({ $output: nodeId, ...(pointer === "" ? {} : { pointer }) });

/**
 * Says that what a reference leads to will be there, where the types cannot know it: an optional member, an element of a
 * list. Where it is not, the node that was to take it ends FAILED with `bad_input`, and its tool is not called.
 */
export function present<T>(reference: StandsFor<T> | undefined): Ref<Exclude<T, undefined>> {
  // Its type alone changes: nothing is known here of what the tool will return.
  return reference as Ref<Exclude<T, undefined>>;
}

/** What an input says that it cannot say; `field` begins at the input. */
export type InputFault = { readonly field: string; readonly rule: string; readonly value: unknown };

/**
 * The input as a command carries it: references written out, and data that looks like one marked as data. What is no JSON
 * stays as it came, for the start to refuse it by name.
 */
export function inputOf(input: unknown, graph: object): { readonly input: unknown } | { readonly fault: InputFault } {
  const faults: InputFault[] = [];
  const written = write(input, { graph, path: "input", above: [], faults });
  const [fault] = faults;
  return fault === undefined ? { input: written } : { fault };
}

type Place = {
  readonly graph: object;
  readonly path: string;
  readonly above: readonly object[];
  readonly faults: InputFault[];
};

function write(value: unknown, place: Place): unknown {
  const target = targetOf(value);
  if (target !== undefined) return writeReference(value, target, place);
  if (typeof value !== "object" || value === null) return value;
  if (place.above.includes(value) || place.above.length > fixed.valueDepth) return value;
  const under = (name: string | number): Place => ({
    ...place,
    path: `${place.path}.${name}`,
    above: [...place.above, value],
  });
  if (Array.isArray(value)) {
    const written = value.map((element, index) => write(element, under(index)));
    return written.every((element, index) => element === value[index]) ? value : written;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return value;
  const members = Object.entries(value).map(([name, member]) => ({ name, member, now: write(member, under(name)) }));
  const isSame = members.every(({ member, now }) => member === now);
  // fromEntries defines members, so a member named __proto__ stays one.
  const now = isSame ? value : Object.fromEntries(members.map((member) => [member.name, member.now]));
  if (!Object.hasOwn(value, "$output") && !Object.hasOwn(value, "$literal")) return now;
  if (holdsReference(value)) {
    const rule = "must hold no reference: an object with a member $output or $literal can only be sent as plain data";
    place.faults.push({ field: place.path, rule, value });
  }
  return { $literal: value };
}

function writeReference(value: unknown, target: Target, { graph, path, faults }: Place): unknown {
  if (target.graph !== graph) {
    faults.push({ field: path, rule: "must refer to a node of this graph, not of another one", value });
  }
  return written(target);
}

function holdsReference(value: unknown): boolean {
  if (targetOf(value) !== undefined) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(holdsReference);
}
