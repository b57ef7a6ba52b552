/**
 * A write to the table is data. The transitions return writes; one adapter turns them into DynamoDB expressions, another
 * applies them in memory, so every rule stands once and the tests run the very rules that are deployed.
 */

export type Value = string | number | boolean | ReadonlySet<number>;
export type Item = { readonly [attribute: string]: Value };
export type Key = { readonly pk: string; readonly sk: string };

/** One test of the item as it is before the write. A comparison with an attribute that is missing is false. */
export type Condition =
  | { readonly attr: string; readonly is: "exists" | "missing" }
  | { readonly attr: string; readonly is: "equal" | "notEqual"; readonly value: Value }
  | { readonly attr: string; readonly is: "below" | "atMost" | "above" | "atLeast"; readonly value: number }
  | { readonly attr: string; readonly is: "oneOf"; readonly values: readonly string[] }
  /** Below another attribute of the same item. */
  | { readonly attr: string; readonly is: "belowAttribute"; readonly other: string }
  /** Holds when all conditions of at least one alternative hold. */
  | { readonly anyOf: readonly (readonly Condition[])[] };

/** Replaces the whole item. */
export type Put = {
  readonly op: "put";
  /** Which transition this write belongs to, for logs and for tests that name it. */
  readonly name: string;
  readonly key: Key;
  /** The attributes besides the key. */
  readonly item: Item;
  readonly conditions: readonly Condition[];
};

/**
 * Changes some attributes. DynamoDB's UpdateItem would create a missing item (API_UpdateItem.html), so each update
 * carries a condition that only an existing item can meet.
 */
export type Update = {
  readonly op: "update";
  readonly name: string;
  readonly key: Key;
  readonly set?: Item;
  /** Set only where the attribute is missing. */
  readonly setIfMissing?: Item;
  readonly remove?: readonly string[];
  /** Added to a number; only under a condition that a repeat cannot meet, since the SDK repeats calls (WorkingWithItems.html). */
  readonly add?: { readonly [attribute: string]: number };
  /** Members taken out of a number set; the attribute vanishes with its last member. */
  readonly deleteFromSet?: { readonly [attribute: string]: ReadonlySet<number> };
  readonly conditions: readonly Condition[];
};

export type Write = Put | Update;
