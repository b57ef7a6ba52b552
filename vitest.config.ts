import { defineConfig } from "vitest/config";

// One group after another: the leases of the end-to-end tests are seconds long, and a busy machine would end them.
export default defineConfig({
  test: {
    // One worker fewer than there are cores is the default: on two cores that would be one.
    maxWorkers: 2,
    // The SDK says at each start, in each process, that its next year's versions want a newer Node.
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" },
    projects: [
      {
        test: {
          name: "unit",
          // Loading the CDK takes seconds, and once for each worker is enough: it halves the time of this group.
          isolate: false,
          sequence: { groupOrder: 0 },
          include: ["test/unit/**/*.test.ts", "test/tidy.test.ts", "test/stack/**/*.test.ts", "examples/**/*.test.ts"],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: "contract",
          sequence: { groupOrder: 1 },
          include: ["test/contract/**/*.test.ts"],
          globalSetup: ["test/support/emulator-setup.ts"],
          testTimeout: 60_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          name: "simulation",
          include: ["test/simulation/**/*.test.ts"],
          testTimeout: 400_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: "e2e",
          sequence: { groupOrder: 3 },
          include: ["test/e2e/**/*.test.ts"],
          globalSetup: ["test/support/e2e-setup.ts"],
          testTimeout: 120_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: "package",
          sequence: { groupOrder: 4 },
          include: ["test/package/*.test.ts"],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: "kills",
          include: ["test/kills/**/*.test.ts", "test/chaos/**/*.test.ts"],
          testTimeout: 180_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 5 },
          fileParallelism: false,
        },
      },
    ],
  },
});
