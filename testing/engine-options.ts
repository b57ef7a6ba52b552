/** What a simulated deployment is made of. */
import type { Limits } from "../shared/limits.ts";
import type { AnyTool } from "../shared/tool.ts";
import type { ChooseFault } from "./faults.ts";
import type { Process } from "./process.ts";
import type { Sabotage } from "./sabotage.ts";
import type { Weather } from "./weather.ts";
import type { Witness } from "./witness.ts";

export type EngineOptions = {
  /** The run that will be started: the scanner's looks at its shard are calls that may be struck. */
  readonly runId: string;
  readonly seed: number;
  readonly choose: ChooseFault;
  /** Tools bound to the process that runs them. */
  readonly toolsFor: (process: Process) => readonly AnyTool[];
  /** Resolves when nothing goes on any more at this instant of virtual time. @default once all promises have settled */
  readonly quiet?: () => Promise<void>;
  readonly weather?: Weather;
  readonly limits?: Partial<Limits>;
  readonly witness?: Witness;
  /** For so long after the start no object can be put or read. */
  readonly bucketDownForMs?: number;
  /** A known mistake, put in on purpose to see whether the checker finds it. */
  readonly sabotage?: Sabotage;
};
