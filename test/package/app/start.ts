/** Starts a run in the stack that is named, waits for its end and prints what came out. */
import { createClient, graph } from "leasehold/client";
import { announce, sendParcel } from "./tools";

async function main(stackName: string, runId: string): Promise<void> {
  const client = createClient({ stackName });
  const plan = graph();
  const parcel = plan.node("send", sendParcel, { to: stackName });
  plan.node("announce", announce, { text: parcel.output.parcel });
  const start = await client.startRun({ runId, nodes: plan.nodes });
  await start.accepted({ timeoutMs: 30_000 });
  const run = await client.waitForRun(runId, { timeoutMs: 60_000 });
  console.log(JSON.stringify({ status: run.status, said: await client.getOutput(runId, "announce") }));
}

const [stackName = "", runId = ""] = process.argv.slice(2);
main(stackName, runId).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
