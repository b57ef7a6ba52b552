/** What a program that starts runs and asks after them imports. */
export type { Json } from "../shared/json.ts";
export type { EffectKnown, NodeStatus, RunStatus } from "../shared/model.ts";
export type {
  CancelRunOptions,
  Client,
  NodeRequest,
  ResolveNodeRequest,
  SendOptions,
  StartRunRequest,
} from "./client.ts";
export type { Accepted, CommandHandle } from "./command.ts";
export { type ClientOptions, createClient, type ReachOptions } from "./create.ts";
export type { DoubtListing, ListDoubtsOptions } from "./doubts.ts";
export {
  type ClientError,
  type ClientErrorCode,
  isClientError,
  isRefused,
  isStartRefused,
  type RefusedError,
  type StartRefusedError,
} from "./errors.ts";
export { type Graph, type GraphNode, type GraphNodeOptions, graph, type ToolShape } from "./graph.ts";
export type { ListRunsOptions, RunPage, RunSummary } from "./list-runs.ts";
export type { Place, PlaceOptions } from "./place.ts";
export type { WaitOptions } from "./poll.ts";
export { present, type Ref, type StandsFor, type UntypedRef, type WithRefs } from "./reference.ts";
export { type JsonSchema, jsonSchemas, type SchemaName } from "./schemas.ts";
export type { DoubtView, NodeView, ResolutionView, RunView } from "./view.ts";
export type { WaitForRunOptions } from "./wait.ts";
