/** Conditions whose loss no schedule can show, each with the reason why it is harmless. All others must be caught. */

type Survivor = {
  /** Matches names of mutants. */
  readonly mutant: RegExp;
  readonly why: string;
};

const survivors: readonly Survivor[] = [
  {
    mutant: /^claim without \[\d+\] dispatch_id equal/,
    why: "a message of old then does what the newest one was sent for, and the newest finds it done: it costs deliveries, and nothing is done twice.",
  },
  {
    mutant: /generation (equal|notEqual)/,
    why: "a second run of the same id starts only after the first one's retention (30 days); no invocation (15 min), stream record (24 h) or message (14 days) lives so long. Kept for tables that were restored, and held by unit tests.",
  },
  {
    mutant: /^claim without .* deadline_at_ms above/,
    why: "looked at again right before the tool is called; without it a node past its deadline only uses one attempt more before it ends EXPIRED.",
  },
  {
    mutant: /^claim without \[\d+\.1\.0\] status equal/,
    why: "only a RUNNING node has a lease: every way out of RUNNING removes it.",
  },
  {
    mutant: /^claim without .* claim_id notEqual/,
    why: "a repeat of one's own claim can meet its own ended lease only when the SDK repeats a call for longer than a lease; it would use one attempt more.",
  },
  {
    mutant: /^ready_alone without/,
    why: "in the same transaction as the commit of the only node that it waits for, whose own condition holds only once.",
  },
  {
    mutant: /^(end_run|make_ready|end_skipped) without .* waiting_on (missing|equal)/,
    why: "the write is built from an item that waited for nothing any more, and a set of what is waited for only shrinks.",
  },
  {
    mutant: /^(keep_run|wake_run) without .* scan_shard exists/,
    why: "written together with a node that is in doubt, and a run lives as long as one of its nodes does (I15).",
  },
  {
    mutant: /^resolve_not_done without .* epoch equal/,
    why: "the node was read right before and had this epoch; in between it would have to be resolved, run, and come into doubt once more.",
  },
  {
    mutant: /^claim_to_reconcile without .* v equal/,
    why: "the claim before it was refused with this very item, and this version could read it.",
  },
  {
    mutant: /^(reconcile_later|not_done) without .* epoch equal/,
    why: "whoever reconciles owns a node of a careful tool, and such an owner is followed only once it is surely dead.",
  },
  {
    mutant: /^end_skipped without .* dep_failed equal/,
    why: "the write is built from an item that carried the mark, and nothing takes the mark away.",
  },
  {
    mutant:
      /^(end_failed|end_expired|enter_doubt|claim_to_reconcile) without \[\d+\] (status|epoch|lease_expires_at_ms) equal/,
    why: "what was found is named by status, epoch and end of the lease; each two of them already tell one state of a node from every other, but for a heartbeat that came late.",
  },
];

export const reasonFor = (mutant: string): string | undefined => survivors.find((one) => one.mutant.test(mutant))?.why;
