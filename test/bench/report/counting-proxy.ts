/**
 * Stands between one deployed function and the local AWS, and adds up what the function asks for. It asks the table for
 * ConsumedCapacity in the function's place, since the function itself does not; the answer's own number is what is added.
 */
import { createServer, type IncomingMessage, request as open, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { z } from "zod";
import { targetOf } from "../../support/fault-proxy/call.ts";
import { actions, noTally, type Tally } from "./tally.ts";

export type CountingProxy = {
  readonly url: string;
  /** Since the start or the last reset. */
  tally(): Tally;
  reset(): void;
  stop(): Promise<void>;
};

const capacitySchema = z.object({ CapacityUnits: z.number() });
const answerSchema = z.object({ ConsumedCapacity: z.union([capacitySchema, z.array(capacitySchema)]).optional() });
const batchSchema = z.object({ Entries: z.array(z.unknown()) });
const transactionSchema = z.object({ TransactItems: z.array(z.unknown()) });

export async function startCountingProxy(target: string): Promise<CountingProxy> {
  const { hostname, port: targetPort } = new URL(target);
  let tally = noTally();

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const called = targetOf(request);
    const came = await buffer(request);
    const sent = called?.service === "DynamoDB" ? withCapacity(came) : came;
    const reply = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { ...request.headers, "content-length": String(sent.byteLength) };
      open({ hostname, port: targetPort, method: request.method, path: request.url, headers }, resolve)
        .on("error", reject)
        .end(sent);
    });
    const body = await buffer(reply);
    if (called !== undefined) count(tally, called.action, sent, body);
    // Its checksum is of the same body, which goes on as it came.
    response.writeHead(reply.statusCode ?? 502, { ...reply.headers, "content-length": String(body.byteLength) });
    response.end(body);
  };

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      process.stderr.write(`counting proxy: ${String(error)}\n`);
      request.socket.destroy();
    });
  });
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => server.on("error", reject).listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // A server that listens on a port has no other kind of address.

  return {
    url: `http://127.0.0.1:${port}`,
    tally: () => ({ ...tally }),
    reset: () => {
      tally = noTally();
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const withCapacity = (body: Buffer): Buffer =>
  Buffer.from(JSON.stringify({ ...JSON.parse(body.toString("utf8")), ReturnConsumedCapacity: "TOTAL" }));

function count(tally: Tally, called: string, sent: Buffer, body: Buffer): void {
  const asked: unknown = JSON.parse(sent.toString("utf8"));
  const action = actions.find((one) => one === called);
  if (action !== undefined) {
    tally[action] += 1;
    const { ConsumedCapacity: capacity = [] } = answerSchema.parse(JSON.parse(body.toString("utf8")));
    const units = [capacity].flat().reduce((sum, one) => sum + one.CapacityUnits, 0);
    tally[action === "GetItem" || action === "Query" ? "readUnits" : "writeUnits"] += units;
  }
  if (called === "TransactWriteItems") tally.transactActions += transactionSchema.parse(asked).TransactItems.length;
  if (called === "SendMessageBatch") {
    tally.sendRequests += 1;
    tally.messages += batchSchema.parse(asked).Entries.length;
  }
  if (called === "ChangeMessageVisibility") tally.hides += 1;
}
