import * as z from "zod";
import { defineTool } from "../../shared/tool.ts";
import type { FencedStore } from "./fenced-store.ts";

/** Where prices come from: each question may have another answer. */
export type Prices = { readonly of: (article: string) => Promise<number> };

/**
 * Reads a price and publishes it. Twice is as good as once, so it is idempotent without any key; but the write of a former
 * owner that comes late would put an old price over a new one. The token lets the store refuse it. Tokens compare between the
 * attempts of one node, so the key it writes is that node's own.
 */
export const publishPrice = (prices: Prices, store: FencedStore) =>
  defineTool({
    name: "publish-price",
    input: z.strictObject({ article: z.string().min(1) }),
    output: z.object({ price: z.number() }),
    effect: "idempotent",
    execute: async ({ article }, { runId, nodeId, fencingToken }) => {
      const price = await prices.of(article);
      await store.put(`${runId}/${nodeId}`, price, fencingToken);
      return { price };
    },
  });
