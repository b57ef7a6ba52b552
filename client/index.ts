/** What a program that starts runs and asks after them imports. */
export type {
  CancelRunOptions,
  Client,
  NodeRequest,
  ResolveNodeRequest,
  SendOptions,
  StartRunRequest,
} from "./client.ts";
export type { Accepted, CommandHandle } from "./command.ts";
export { createClient } from "./create.ts";
export type { DoubtListing, ListDoubtsOptions } from "./doubts.ts";
export { type ClientError, type ClientErrorCode, isClientError, isRefused, type RefusedError } from "./errors.ts";
export type { Place, PlaceOptions } from "./place.ts";
export type { WaitOptions } from "./poll.ts";
export type { DoubtView, NodeView, ResolutionView, RunView } from "./view.ts";
export type { WaitForRunOptions } from "./wait.ts";
