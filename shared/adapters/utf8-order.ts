/** Strings compare and sort by their UTF-8 bytes (Query.KeyConditionExpressions.html); JavaScript compares UTF-16 units. */
export const compareUtf8 = (left: string, right: string): number =>
  Buffer.compare(Buffer.from(left, "utf8"), Buffer.from(right, "utf8"));
