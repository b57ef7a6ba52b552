/** What the provider remembers: every call in order, and each effect once per key. */

export type ProviderCall = {
  /** 1 for the first call of all. Calls of all paths share the count, so it proves their order. */
  readonly sequence: number;
  readonly atMs: number;
  readonly path: string;
  /** `Idempotency-Key`. */
  readonly operationId: string | undefined;
  /** `Fencing-Token`. */
  readonly fencingToken: number | undefined;
  /** `Attempt-Key`, for clients that name each attempt. */
  readonly attemptKey: string | undefined;
  /** `Node-Id`, percent-encoded on the wire since an id may be of any script. */
  readonly nodeId: string | undefined;
  readonly body: unknown;
  /** The body's field `reference`: a name that the caller gives, which is kept and makes no repeat harmless. */
  readonly reference: string | undefined;
  /** The caller's local port: what `pidOfPeer` takes. */
  readonly peerPort: number | undefined;
  /** The calling process, known even when it is dead by now. */
  pid(): Promise<number | undefined>;
};

export type Answer = { readonly status: number; readonly body: unknown; readonly retryAfter?: string | undefined };

export type Effect = {
  readonly path: string;
  readonly operationId: string | undefined;
  readonly reference: string | undefined;
  /** The call that made it. */
  readonly sequence: number;
  readonly answer: unknown;
};

/** `GET /vouchers/by-operation/:reference`: a question, which makes nothing. */
export type Lookup = {
  readonly atMs: number;
  readonly path: string;
  readonly reference: string;
  /** The answer of the effect that was found, the first of several. */
  readonly found: unknown;
  /** The asking process. */
  pid(): Promise<number | undefined>;
};

export type Ledger = {
  readonly calls: ProviderCall[];
  readonly effects: Effect[];
  readonly lookups: Lookup[];
  /** Whether an effect has been made under this reference, and what it was. */
  look(asked: Omit<Lookup, "found">): Answer;
  /**
   * Makes the effect, or gives the first call's answer again. A key that comes back with another path or body is refused,
   * as Stripe and the IETF's draft on idempotency keys do: it would hide that two operations share an id.
   */
  act(call: ProviderCall, make: (ordinal: number) => unknown): { readonly acted: boolean; readonly answer: Answer };
};

export function ledger(): Ledger {
  const calls: ProviderCall[] = [];
  const effects: Effect[] = [];
  const lookups: Lookup[] = [];
  const byKey = new Map<string, { content: string; effect: Effect }>();
  return {
    calls,
    effects,
    lookups,
    look: (asked) => {
      const found = effects.find(({ path, reference }) => path === asked.path && reference === asked.reference);
      lookups.push({ ...asked, found: found?.answer });
      // Both are answers: a 404 would also come from a wrong address, and be taken for "not done".
      return { status: 200, body: found === undefined ? { found: false } : { found: true, answer: found.answer } };
    },
    act: (call, make) => {
      const content = JSON.stringify([call.path, call.body]);
      const known = call.operationId === undefined ? undefined : byKey.get(call.operationId);
      if (known !== undefined && known.content !== content)
        return { acted: false, answer: { status: 422, body: { error: "the key was used with other content" } } };
      if (known !== undefined) return { acted: false, answer: { status: 200, body: known.effect.answer } };
      const { path, operationId, reference, sequence } = call;
      const effect = { path, operationId, reference, sequence, answer: make(effects.length + 1) };
      effects.push(effect);
      if (operationId !== undefined) byKey.set(operationId, { content, effect });
      return { acted: true, answer: { status: 200, body: effect.answer } };
    },
  };
}
