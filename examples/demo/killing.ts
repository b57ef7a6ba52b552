/** The kill: a real SIGKILL for a real process, at the worst moment. */
import type { NodeItem } from "../../shared/model.ts";
import { kill } from "../../test/support/processes.ts";
import type { Provider } from "../../test/support/provider.ts";
import { isCallOf } from "./books.ts";
import type { Part } from "./cast.ts";
import type { Tell } from "./narrator.ts";

export type Killed = { node?: NodeItem; error?: Error };

/** What is waited for after the kill, by what the tool's author has promised. */
const nextOf: Readonly<Record<Part["effect"], string>> = {
  idempotent: "the key makes a repeat harmless: its message comes back when the lease has ended",
  reconcilable: "a repeat would buy again: it is looked up, once its owner is surely dead",
  at_most_once: "a repeat would buy again, and nothing can look it up: nobody calls it now",
};

/** The provider has made the voucher and holds its answer back until this is done, so the worker cannot have recorded it. */
export function killFirstBuyer(
  provider: Provider,
  part: Part,
  tell: Tell,
  nodeNow: () => Promise<NodeItem | undefined>,
): Killed {
  const killed: Killed = {};
  const stopListening = provider.onActed(async (call) => {
    if (call.path !== "/vouchers" || !isCallOf(call, part)) return;
    stopListening();
    try {
      const pid = await call.pid();
      if (pid === undefined) throw new Error("the worker is no process of this machine, so it cannot be killed");
      tell(`provider: voucher made, answer not sent yet; the caller is worker process ${pid}`);
      await kill(pid);
      const node = await nodeNow();
      if (node === undefined) throw new Error("node buy is not in the table");
      tell(`KILLED process ${pid} (SIGKILL). The table says: buy is ${node.status}; of the voucher it knows nothing`);
      tell(nextOf[part.effect]);
      killed.node = node;
    } catch (error) {
      killed.error = error instanceof Error ? error : new Error(String(error));
    }
  });
  return killed;
}
