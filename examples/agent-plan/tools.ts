/** The tools that a plan may name. They stand for calls to a railway's service: what one books is named after its operation. */
import * as z from "zod";
import { defineTool } from "../../shared/tool.ts";

const findTrains = defineTool({
  name: "find-trains",
  input: z.strictObject({ from: z.string().min(1), to: z.string().min(1), date: z.iso.date() }),
  output: z.object({ trains: z.array(z.object({ train: z.string(), departs: z.string(), cents: z.int() })) }),
  effect: "read_only",
  execute: async ({ from, to, date }) => ({
    trains: [
      { train: `${from}-${to} 1`, departs: `${date}T08:00`, cents: 4_900 },
      { train: `${from}-${to} 2`, departs: `${date}T12:00`, cents: 3_900 },
    ],
  }),
});

const bookSeat = defineTool({
  name: "book-seat",
  input: z.strictObject({ train: z.string().min(1), traveller: z.string().min(1) }),
  output: z.object({ booking: z.string(), train: z.string() }),
  effect: "idempotent",
  // A service that knows keys gives the same booking for the same operation, however often it is asked.
  execute: async ({ train }, { operationId }) => ({ booking: `B-${operationId.slice(0, 8)}`, train }),
});

const writeItinerary = defineTool({
  name: "write-itinerary",
  input: z.strictObject({ traveller: z.string(), train: z.string(), departs: z.string(), booking: z.string() }),
  output: z.object({ text: z.string() }),
  effect: "read_only",
  execute: async ({ traveller, train, departs, booking }) => ({
    text: `${traveller} takes ${train} at ${departs}, booking ${booking}`,
  }),
});

export const tools = [findTrains, bookSeat, writeItinerary];
