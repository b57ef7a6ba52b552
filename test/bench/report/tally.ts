/** What the functions of one run have asked of the services. */

export const actions = ["GetItem", "Query", "PutItem", "UpdateItem", "TransactWriteItems"] as const;
export type Action = (typeof actions)[number];

export const functionNames = ["commands", "relay", "worker", "scanner"] as const;
export type FunctionName = (typeof functionNames)[number];

/** Calls and units of one function. A count of its own for each thing that has a price, or that a reader may look for. */
export type Tally = Record<Action, number> & {
  invocations: number;
  /** Writes inside the transactions. */
  transactActions: number;
  readUnits: number;
  /** The index's included. */
  writeUnits: number;
  /** SendMessageBatch requests, and the messages in them. */
  sendRequests: number;
  messages: number;
  /** ChangeMessageVisibility. */
  hides: number;
  blobPuts: number;
  blobGets: number;
};

export type Tallies = Record<FunctionName, Tally>;

export const noTally = (): Tally => ({
  GetItem: 0,
  Query: 0,
  PutItem: 0,
  UpdateItem: 0,
  TransactWriteItems: 0,
  invocations: 0,
  transactActions: 0,
  readUnits: 0,
  writeUnits: 0,
  sendRequests: 0,
  messages: 0,
  hides: 0,
  blobPuts: 0,
  blobGets: 0,
});

export const noTallies = (): Tallies => ({
  commands: noTally(),
  relay: noTally(),
  worker: noTally(),
  scanner: noTally(),
});

export const tallyKeys = Object.keys(noTally()) as readonly (keyof Tally)[]; // Its own literal has these keys and no others.

export function sumOf(tallies: Readonly<Tallies>): Tally {
  const sum = noTally();
  for (const name of functionNames) for (const key of tallyKeys) sum[key] += tallies[name][key];
  return sum;
}
