/**
 * Every number that Leasehold rests on, and the relations that must hold between them.
 * The stack and the functions import this one file, so a template can never disagree with the code that runs in it.
 */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** What a deployer may change. Durations are whole milliseconds. */
export type Limits = {
  /** How long a claim holds without a heartbeat. @default 30 s */
  readonly leaseMs: number;
  /** How often a live worker extends its lease and its message's visibility. @default 10 s */
  readonly heartbeatMs: number;
  /** How far two clocks may differ before an ended lease may still be alive; costs time, never correctness. @default 2 s */
  readonly skewMs: number;
  /** The longest that one attempt of any tool may run. @default 240 s */
  readonly attemptLimitMs: number;
  /** How long an aborted tool may take to settle before its process is ended. @default 2 s */
  readonly abortGraceMs: number;
  /** Time kept at the end of an invocation to record an outcome. @default 5 s */
  readonly commitBufferMs: number;
  /** The worker function's timeout. @default 300 s */
  readonly functionTimeoutMs: number;
  /** Timeout of the commands, relay and scanner functions. @default 60 s */
  readonly plainFunctionTimeoutMs: number;
  /** The queues' visibility timeout, before a claim shortens it to the lease. @default 1,800 s */
  readonly queueVisibilityMs: number;
  /**
   * The commands queue's visibility timeout: a command that failed comes back after it. Six function timeouts are AWS's
   * advice (services-sqs-configure.html). @default 360 s, or queueVisibilityMs where that is shorter
   */
  readonly commandVisibilityMs: number;
  /** Receives before a message moves to its dead-letter queue; not an attempt count. @default 100 */
  readonly maxReceives: number;
  /** Attempts of a node whose tool sets none. @default 5 */
  readonly attempts: number;
  /** How long a provider is taken to remember an idempotency key, where a tool says nothing. @default 24 h */
  readonly keyLifetimeMs: number;
  /** Calls of `reconcile` for one doubtful attempt, where a tool says nothing. @default 10 */
  readonly reconcileAttempts: number;
  /** The longest that one call of `reconcile` may run, where a tool says nothing. @default 30 s, or attemptLimitMs where that is shorter */
  readonly reconcileTimeoutMs: number;
  /** First retry delay; each later one doubles. @default 1 s */
  readonly backoffBaseMs: number;
  /** Longest retry delay. @default 300 s */
  readonly backoffMaxMs: number;
  /** How soon a run with work in flight is looked at again. @default 60 s */
  readonly scanEveryMs: number;
  /** How long a quiet run may go without a look. @default 1 h */
  readonly scanIdleMs: number;
  /** How old a READY node (or an ended lease) must be to count as stranded. @default 60 s */
  readonly strandedMs: number;
  /** Retention of the commands and dispatch queues. @default 4 d */
  readonly queueRetentionMs: number;
  /** Retention of the dead-letter and rejected queues. @default 14 d */
  readonly deadLetterRetentionMs: number;
  /** Deadline of a run whose start names none, counted from its acceptance. @default 24 h */
  readonly runDeadlineMs: number;
  /** How long the items of a run outlive its deadline. @default 30 d */
  readonly retentionMs: number;
};

export const defaultLimits: Limits = {
  leaseMs: 30 * SECOND,
  heartbeatMs: 10 * SECOND,
  skewMs: 2 * SECOND,
  attemptLimitMs: 240 * SECOND,
  abortGraceMs: 2 * SECOND,
  commitBufferMs: 5 * SECOND,
  functionTimeoutMs: 300 * SECOND,
  plainFunctionTimeoutMs: 60 * SECOND,
  queueVisibilityMs: 1_800 * SECOND,
  commandVisibilityMs: 360 * SECOND,
  maxReceives: 100,
  attempts: 5,
  keyLifetimeMs: DAY,
  reconcileAttempts: 10,
  reconcileTimeoutMs: 30 * SECOND,
  backoffBaseMs: SECOND,
  backoffMaxMs: 5 * MINUTE,
  scanEveryMs: MINUTE,
  scanIdleMs: HOUR,
  strandedMs: MINUTE,
  queueRetentionMs: 4 * DAY,
  deadLetterRetentionMs: 14 * DAY,
  runDeadlineMs: DAY,
  retentionMs: 30 * DAY,
};

/** What AWS or the table's layout fixes, and nobody may change by configuration. */
export const fixed = {
  /** Bytes of UTF-8 in an id. Keys hold 1,024 at the least (Constraints.html); ours stay readable. */
  idBytes: 256,
  /** Characters of a tool's name. */
  toolNameLength: 64,
  /** Characters of a pool's name. */
  poolNameLength: 40,
  /** Tools of one deployment: the claim names them, and IN takes 100 operands (Constraints.html). */
  tools: 100,
  /** Actions in one TransactWriteItems (transaction-apis.html). */
  transactionActions: 100,
  /** Bytes of one write unit: an update is charged for the whole item (read-write-operations.html). */
  writeUnitBytes: 1_024,
  /** Largest value kept as an item beside its node; an item ends at 400 KB with its names (Constraints.html). */
  valueBytes: 256 * 1_024,
  /** Largest output kept so; what is larger is an object. Writing it to the table would cost more than to S3 from about 8 KiB on. */
  outputBesideBytes: 16 * 1_024,
  /**
   * Largest output of all. While it is kept, a worker (512 MiB by default) holds the value, what its schema made of it and its
   * text, and the object has to be written within the commit buffer.
   */
  outputBytes: 5 * 1_024 * 1_024,
  /** All outputs together that one node refers to: read back, JSON takes several times its bytes, and a worker that dies of it says nothing. */
  referredBytes: 32 * 1_024 * 1_024,
  /** Largest result of one step; all of a node share one item. */
  stepBytes: 16 * 1_024,
  /** Nesting levels of a value; deeper ones would overflow a recursive reader. */
  valueDepth: 64,
  /** Dependents that a commit makes READY itself; the rest is the outbox entry's. */
  readyPerCommit: 20,
  /** Shards of the `scan` index, so that no single index partition is hot (gsi-throttling.html). */
  scanShards: 16,
  /** Runs that one pass of the scanner looks at in each shard. */
  scanRunsPerShard: 50,
  /** Longest DelaySeconds (quotas-messages.html). */
  messageDelayMs: 900 * SECOND,
  /** Longest visibility, counted from the receive (sqs-visibility-timeout.html). */
  visibilityMs: 12 * HOUR,
  /** Entries of one SendMessageBatch (quotas-messages.html). */
  sendBatch: 10,
  /** Bytes of one SQS message with its attributes (quotas-messages.html). */
  messageBytes: 1_048_576,
  /** Outbox entries die this long after they were written; a stream keeps its records for a day (Streams.html). */
  outboxRetentionMs: 7 * DAY,
  /** Records of one relay invocation. */
  streamBatch: 100,
  /** Attempts of a stream batch before its records go to the failure destination (services-ddb-params.html). */
  streamRetryAttempts: 10,
  /** Age at which a stream record goes to the failure destination. */
  streamRecordAgeMs: HOUR,
  /** The longest deadline that a start may ask for. */
  runDeadlineMs: 365 * DAY,
  /** An item goes some days after its time to live (TTL); what it points to must still be there. */
  expiryDelayMs: 7 * DAY,
} as const;

/** What of an invocation is kept for after a tool's own time: to end it, and to record what came of it. */
export const keptMs = ({ abortGraceMs, commitBufferMs }: Limits): number => abortGraceMs + commitBufferMs;

type Relation = { readonly holds: (limits: Limits) => boolean; readonly says: (limits: Limits) => string };

const relations: readonly Relation[] = [
  {
    holds: (l) => l.heartbeatMs * 3 <= l.leaseMs,
    says: (l) => `heartbeatMs (${l.heartbeatMs}) must be at most a third of leaseMs (${l.leaseMs})`,
  },
  { holds: (l) => l.skewMs < l.leaseMs, says: (l) => `skewMs (${l.skewMs}) must be below leaseMs (${l.leaseMs})` },
  {
    holds: (l) => l.attemptLimitMs + keptMs(l) <= l.functionTimeoutMs,
    says: (l) =>
      `attemptLimitMs + abortGraceMs + commitBufferMs (${l.attemptLimitMs + keptMs(l)}) must be at most functionTimeoutMs (${l.functionTimeoutMs})`,
  },
  {
    holds: (l) => l.functionTimeoutMs <= l.queueVisibilityMs,
    says: (l) =>
      `functionTimeoutMs (${l.functionTimeoutMs}) must be at most queueVisibilityMs (${l.queueVisibilityMs})`,
  },
  {
    holds: (l) => l.plainFunctionTimeoutMs <= l.commandVisibilityMs,
    says: (l) =>
      `plainFunctionTimeoutMs (${l.plainFunctionTimeoutMs}) must be at most commandVisibilityMs (${l.commandVisibilityMs})`,
  },
  {
    holds: (l) => l.reconcileTimeoutMs <= l.attemptLimitMs,
    says: (l) => `reconcileTimeoutMs (${l.reconcileTimeoutMs}) must be at most attemptLimitMs (${l.attemptLimitMs})`,
  },
  {
    holds: (l) => l.functionTimeoutMs < l.keyLifetimeMs,
    says: (l) =>
      `functionTimeoutMs (${l.functionTimeoutMs}) must be below keyLifetimeMs (${l.keyLifetimeMs}), since a key is used until so long before it ends`,
  },
  {
    holds: (l) => l.functionTimeoutMs <= 900 * SECOND,
    says: (l) => `functionTimeoutMs (${l.functionTimeoutMs}) must be at most 900000, Lambda's own limit`,
  },
  {
    holds: (l) => l.plainFunctionTimeoutMs <= 900 * SECOND,
    says: (l) => `plainFunctionTimeoutMs (${l.plainFunctionTimeoutMs}) must be at most 900000, Lambda's own limit`,
  },
  {
    holds: (l) => l.commandVisibilityMs <= fixed.visibilityMs,
    says: (l) =>
      `commandVisibilityMs (${l.commandVisibilityMs}) must be at most ${fixed.visibilityMs}, the limit of SQS`,
  },
  {
    holds: (l) => l.queueVisibilityMs <= fixed.visibilityMs,
    says: (l) => `queueVisibilityMs (${l.queueVisibilityMs}) must be at most ${fixed.visibilityMs}, the limit of SQS`,
  },
  {
    holds: (l) => l.leaseMs + l.skewMs <= l.queueVisibilityMs,
    says: (l) =>
      `leaseMs + skewMs (${l.leaseMs + l.skewMs}) must be at most queueVisibilityMs (${l.queueVisibilityMs})`,
  },
  {
    holds: (l) => l.queueRetentionMs < l.deadLetterRetentionMs,
    says: (l) =>
      `queueRetentionMs (${l.queueRetentionMs}) must be below deadLetterRetentionMs (${l.deadLetterRetentionMs}), since a dead letter keeps the time of its first send`,
  },
  {
    holds: (l) => l.deadLetterRetentionMs <= 14 * DAY,
    says: (l) => `deadLetterRetentionMs (${l.deadLetterRetentionMs}) must be at most ${14 * DAY}, the limit of SQS`,
  },
  {
    holds: (l) => l.deadLetterRetentionMs < l.retentionMs,
    says: (l) =>
      `deadLetterRetentionMs (${l.deadLetterRetentionMs}) must be below retentionMs (${l.retentionMs}), so that no message outlives the run it names`,
  },
  {
    holds: (l) => l.runDeadlineMs <= fixed.runDeadlineMs,
    says: (l) => `runDeadlineMs (${l.runDeadlineMs}) must be at most ${fixed.runDeadlineMs}`,
  },
  {
    holds: (l) => l.maxReceives >= 10 && l.maxReceives <= 1_000,
    says: (l) => `maxReceives (${l.maxReceives}) must be from 10 to 1000, since throttled deliveries count too`,
  },
  {
    holds: (l) => l.backoffBaseMs <= l.backoffMaxMs,
    says: (l) => `backoffBaseMs (${l.backoffBaseMs}) must be at most backoffMaxMs (${l.backoffMaxMs})`,
  },
  {
    holds: (l) => l.strandedMs <= HOUR,
    says: (l) => `strandedMs (${l.strandedMs}) must be at most ${HOUR}, from which age on a node is woken each hour`,
  },
  {
    holds: (l) => l.scanEveryMs <= l.scanIdleMs,
    says: (l) => `scanEveryMs (${l.scanEveryMs}) must be at most scanIdleMs (${l.scanIdleMs})`,
  },
];

/**
 * Default limits with some replaced, checked.
 * @throws Error that names every broken relation with both of its numbers, or the field that is unknown or no positive whole number.
 */
export function limitsWith(overrides: Partial<Limits> = {}): Limits {
  const problems: string[] = [];
  for (const [name, value] of Object.entries(overrides)) {
    if (!Object.hasOwn(defaultLimits, name))
      problems.push(`${name} is no limit; known are ${Object.keys(defaultLimits).join(", ")}`);
    else if (!Number.isSafeInteger(value) || value <= 0)
      problems.push(`${name} must be a positive whole number, got ${JSON.stringify(value)}`);
  }
  const attemptLimitMs = overrides.attemptLimitMs ?? defaultLimits.attemptLimitMs;
  // What nobody set follows what it depends on, instead of contradicting it.
  const reconcileTimeoutMs = Math.min(defaultLimits.reconcileTimeoutMs, attemptLimitMs);
  const queueVisibilityMs = overrides.queueVisibilityMs ?? defaultLimits.queueVisibilityMs;
  const commandVisibilityMs = Math.min(defaultLimits.commandVisibilityMs, queueVisibilityMs);
  const limits = { ...defaultLimits, reconcileTimeoutMs, commandVisibilityMs, ...overrides };
  if (problems.length === 0) {
    for (const relation of relations) if (!relation.holds(limits)) problems.push(relation.says(limits));
  }
  if (problems.length > 0) throw new Error(`limits contradict each other or are wrong: ${problems.join("; ")}`);
  return limits;
}

limitsWith();
