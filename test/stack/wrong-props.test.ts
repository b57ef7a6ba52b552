/** Every wrong prop is refused with its field, its rule and what came, and nothing is made of it. */
import { describe, expect, it } from "vitest";
import type { LeaseholdProps } from "../../infra/props.ts";
import { someTools, synth } from "./synth.ts";

/** As JavaScript would hand it over, without a compiler that knows better. */
const untyped = (props: object): Partial<LeaseholdProps> => props;

const heavy = (props: object): Partial<LeaseholdProps> => untyped({ pools: { heavy: { tools: someTools, ...props } } });
const worker = (props: object): Partial<LeaseholdProps> => untyped({ worker: props });

const poolLimitNames =
  "leaseMs, heartbeatMs, attemptLimitMs, abortGraceMs, commitBufferMs, functionTimeoutMs, queueVisibilityMs, maxReceives, " +
  "keyLifetimeMs, reconcileAttempts, reconcileTimeoutMs, backoffBaseMs, backoffMaxMs";
const wrongLimits = "limits contradict each other or are wrong:";

describe("a prop that is wrong", () => {
  it.each<readonly [Partial<LeaseholdProps>, string]>([
    [untyped({ namespace: 7 }), 'namespace must be 1 to 64 of A-Z, a-z, 0-9, "_", "." and "-", got 7'],
    [{ namespace: "a b" }, 'namespace must be 1 to 64 of A-Z, a-z, 0-9, "_", "." and "-", got "a b"'],
    [{ tools: "no/such.ts" }, 'tools must be the path of an existing module, got "no/such.ts"'],
    [{ tools: "functions" }, 'tools must be the path of an existing module, got "functions"'],
    [untyped({ tools: undefined }), "tools must be the path of an existing module, got undefined"],
    [untyped({ removable: "false" }), 'removable must be true or false, got "false"'],
    [untyped({ alarms: 1 }), "alarms must be true or false, got 1"],
    [untyped({ outputs: null }), "outputs must be true or false, got null"],
    [untyped({ logLevel: "trace" }), 'logLevel must be one of debug, info, warn, error, got "trace"'],
    [{ limits: { leaseMs: 0.5 } }, `${wrongLimits} leaseMs must be a positive whole number, got 0.5`],
    [untyped({ limits: { lease: 1 } }), `${wrongLimits} lease is no limit; known are leaseMs, heartbeatMs`],
    [
      { limits: { functionTimeoutMs: 300_500 } },
      "limits: functionTimeoutMs (300500) must be a whole number of seconds, as AWS counts it",
    ],
    [
      { limits: { plainFunctionTimeoutMs: 960_000, commandVisibilityMs: 960_000 } },
      `${wrongLimits} plainFunctionTimeoutMs (960000) must be at most 900000, Lambda's own limit`,
    ],
    [
      { limits: { functionTimeoutMs: 900_000, queueVisibilityMs: 600_000 } },
      `${wrongLimits} functionTimeoutMs (900000) must be at most queueVisibilityMs (600000)`,
    ],
    [
      worker({ memory: 512 }),
      'worker must have no fields but entry, environment, memoryMiB, vpc, vpcSubnets, securityGroups, layers, bundling, batchSize, maxConcurrency, got "memory"',
    ],
    [worker({ entry: "no/entry.ts" }), 'worker.entry must be the path of an existing module, got "no/entry.ts"'],
    [worker({ memoryMiB: 127 }), "worker.memoryMiB must be a whole number from 128 to 10240, got 127"],
    [worker({ memoryMiB: "512" }), 'worker.memoryMiB must be a whole number from 128 to 10240, got "512"'],
    [worker({ batchSize: 0 }), "worker.batchSize must be a whole number from 1 to 10, got 0"],
    [worker({ batchSize: 11 }), "worker.batchSize must be a whole number from 1 to 10, got 11"],
    [worker({ batchSize: 1.5 }), "worker.batchSize must be a whole number from 1 to 10, got 1.5"],
    [worker({ maxConcurrency: 1 }), "worker.maxConcurrency must be a whole number from 2 to 1000, got 1"],
    [worker({ maxConcurrency: 1_001 }), "worker.maxConcurrency must be a whole number from 2 to 1000, got 1001"],
    [
      worker({ environment: { LEASEHOLD_TABLE: "x" } }),
      'worker.environment must not set names that begin with LEASEHOLD_, got "LEASEHOLD_TABLE"',
    ],
    [
      worker({ environment: { AWS_REGION: "x" } }),
      'worker.environment must not set a name that Lambda sets itself, got "AWS_REGION"',
    ],
    [
      worker({ environment: { "PAY-URL": "x" } }),
      'worker.environment must have names of a letter and then letters, digits or _, got "PAY-URL"',
    ],
    [worker({ environment: { PORT: 80 } }), "worker.environment.PORT must be a text, got 80"],
    [worker({ vpcSubnets: {} }), "worker.vpcSubnets must be left out where worker.vpc is missing, got one"],
    [worker({ securityGroups: [] }), "worker.securityGroups must be left out where worker.vpc is missing, got one"],
    [worker({ layers: Array(6).fill({}) }), "worker.layers must be at most 5 (gettingstarted-limits.html), got 6"],
    [
      { pools: { "a b": { tools: someTools } } },
      'pools must have names of 1 to 40 of A-Z, a-z, 0-9 and "-", got "a b"',
    ],
    [{ pools: { "": { tools: someTools } } }, 'pools must have names of 1 to 40 of A-Z, a-z, 0-9 and "-", got ""'],
    [
      { pools: { ["x".repeat(41)]: { tools: someTools } } },
      `pools must have names of 1 to 40 of A-Z, a-z, 0-9 and "-", got "${"x".repeat(41)}"`,
    ],
    [heavy({ tools: "no/such.ts" }), 'pools.heavy.tools must be the path of an existing module, got "no/such.ts"'],
    [heavy({ entry: "no/entry.ts" }), 'pools.heavy.entry must be the path of an existing module, got "no/entry.ts"'],
    [heavy({ memoryMiB: 20_480 }), "pools.heavy.memoryMiB must be a whole number from 128 to 10240, got 20480"],
    [heavy({ concurrency: 2 }), "pools.heavy must have no fields but tools, limits, entry, environment, memoryMiB"],
    [
      heavy({ environment: { LEASEHOLD_POOL: "light" } }),
      'pools.heavy.environment must not set names that begin with LEASEHOLD_, got "LEASEHOLD_POOL"',
    ],
    [heavy({ limits: { skewMs: 1 } }), `pools.heavy.limits must name limits of a pool (${poolLimitNames}), got skewMs`],
    [
      heavy({ limits: { attempts: 9 } }),
      `pools.heavy.limits must name limits of a pool (${poolLimitNames}), got attempts`,
    ],
    [
      heavy({ limits: { leaseMs: -1 } }),
      `pools.heavy.limits: ${wrongLimits} leaseMs must be a positive whole number, got -1`,
    ],
    [
      heavy({ limits: { functionTimeoutMs: 900_000, queueVisibilityMs: 600_000 } }),
      `pools.heavy.limits: ${wrongLimits} functionTimeoutMs (900000) must be at most queueVisibilityMs (600000)`,
    ],
    [
      { limits: { leaseMs: 60_000 }, ...heavy({ limits: { heartbeatMs: 30_000 } }) },
      `pools.heavy.limits: ${wrongLimits} heartbeatMs (30000)`,
    ],
    [
      heavy({ limits: { functionTimeoutMs: 300_500 } }),
      "pools.heavy.limits: functionTimeoutMs (300500) must be a whole number of seconds, as AWS counts it",
    ],
  ])("%j is refused", (props, message) => {
    expect(() => synth(props)).toThrow(message);
  });
});

describe("variables that are too large for Lambda", () => {
  const crowded = (count: number): NonNullable<LeaseholdProps["pools"]> =>
    Object.fromEntries(
      Array.from({ length: count }, (_, place) => [
        `pool-${place}`,
        { tools: someTools, limits: { attemptLimitMs: 600_000, functionTimeoutMs: 900_000, maxReceives: 20 } },
      ]),
    );

  it("are found before the deploy, with the size and what takes the most of it", () => {
    expect(() => synth({ worker: { environment: { LIST: "x".repeat(4_000) } } })).toThrow(
      /Leasehold\/Worker\/Function.*environment variables must be at most 4096 bytes together, got at least 4\d\d\d: LIST 4004, /,
    );
    expect(() => synth({ pools: crowded(50) })).toThrow(/CommandsHandler.*LEASEHOLD_POOL_LIMITS \d{4}, /s);
  });

  it("are not suspected where there is room", () => {
    expect(() => synth({ worker: { environment: { LIST: "x".repeat(3_500) } }, pools: crowded(10) })).not.toThrow();
  });
});
