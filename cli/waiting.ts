/** How long the commands wait for what another process must do first. */
export const defaultAnswerMs = 60_000;
export const answerRange = { leastMs: 0, mostMs: 24 * 3_600_000 } as const;
/** A run may be watched for as long as one may last. */
export const endRange = { leastMs: 0, mostMs: 365 * 24 * 3_600_000 } as const;
