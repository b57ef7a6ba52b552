/** From counts to money. Pure. */
import { type PriceName, prices } from "./prices.ts";
import { type FunctionName, functionNames, sumOf, type Tallies, type Tally } from "./tally.ts";

/** How much of each priced thing. */
export type Amounts = Readonly<Record<PriceName, number>>;

export const nothing: Amounts = {
  writeUnit: 0,
  readUnit: 0,
  sqsRequest: 0,
  lambdaRequest: 0,
  lambdaGbSecond: 0,
  logByte: 0,
  blobPut: 0,
  blobGet: 0,
  stateTransition: 0,
  customMetric: 0,
};

export type Assumed = {
  /** Billed time of one invocation on AWS, the tool's own left out. */
  readonly billedMs: Readonly<Record<FunctionName, number>>;
  /** START and REPORT of one invocation, as JSON, with what CloudWatch adds to each event. */
  readonly platformLogBytes: number;
};

/** No measurement: what a function waits for is DynamoDB, and an emulator says nothing of how long. */
export const assumed: Assumed = {
  billedMs: { commands: 100, relay: 20, worker: 50, scanner: 200 },
  platformLogBytes: 700,
};

/** The defaults of the construct. */
const memoryGb: Readonly<Record<FunctionName, number>> = { commands: 0.25, relay: 0.25, worker: 0.5, scanner: 0.25 };

/** Who sends the start does not count; a queue's poller makes one receive and one delete for each invocation at the least. */
export const sqsRequestsOf = (tallies: Readonly<Tallies>): number => {
  const { sendRequests, hides } = sumOf(tallies);
  return sendRequests + hides + 2 * (tallies.commands.invocations + tallies.worker.invocations);
};

/** @param ownLogBytes what each function itself writes in one invocation. */
export function amountsOf(
  tallies: Readonly<Tallies>,
  ownLogBytes: Readonly<Record<FunctionName, number>>,
  { billedMs, platformLogBytes }: Assumed,
): Amounts {
  const sum = sumOf(tallies);
  const overInvocations = (each: (name: FunctionName) => number): number =>
    functionNames.reduce((total, name) => total + tallies[name].invocations * each(name), 0);
  return {
    ...nothing,
    writeUnit: sum.writeUnits,
    readUnit: sum.readUnits,
    sqsRequest: sqsRequestsOf(tallies),
    lambdaRequest: sum.invocations,
    lambdaGbSecond: overInvocations((name) => (memoryGb[name] * billedMs[name]) / 1_000),
    logByte: overInvocations((name) => ownLogBytes[name] + platformLogBytes),
    blobPut: sum.blobPuts,
    blobGet: sum.blobGets,
  };
}

/** In dollars, for so many times the amounts. */
export const costOf = (amounts: Amounts, times: number): Readonly<Record<PriceName, number>> => {
  const cost = (name: PriceName): number => amounts[name] * times * prices[name].usd;
  return {
    writeUnit: cost("writeUnit"),
    readUnit: cost("readUnit"),
    sqsRequest: cost("sqsRequest"),
    lambdaRequest: cost("lambdaRequest"),
    lambdaGbSecond: cost("lambdaGbSecond"),
    logByte: cost("logByte"),
    blobPut: cost("blobPut"),
    blobGet: cost("blobGet"),
    stateTransition: cost("stateTransition"),
    customMetric: cost("customMetric"),
  };
};

export const totalOf = (cost: Readonly<Record<string, number>>): number =>
  Object.values(cost).reduce((sum, one) => sum + one, 0);

/** What each second of a tool's own time costs beside, in dollars. */
export const toolSecondUsd = memoryGb.worker * prices.lambdaGbSecond.usd;

const passesPerMonth = 60 * 24 * 30;
/** Two queues, each asked by 2 pollers while idle, or by the 5 that a mapping begins with, every 20 s (services-sqs-scaling.html). */
export const idlePolls = {
  least: (2 * 2 * passesPerMonth * 60) / 20,
  most: (2 * 5 * passesPerMonth * 60) / 20,
} as const;

/** A month in which no run lives: the scanner's passes and the pollers. */
export function idleMonthOf(idlePass: Tally, { billedMs, platformLogBytes }: Assumed): Amounts {
  return {
    ...nothing,
    writeUnit: idlePass.writeUnits * passesPerMonth,
    readUnit: idlePass.readUnits * passesPerMonth,
    sqsRequest: idlePolls.most,
    lambdaRequest: passesPerMonth,
    lambdaGbSecond: (passesPerMonth * memoryGb.scanner * billedMs.scanner) / 1_000,
    logByte: passesPerMonth * platformLogBytes,
  };
}
