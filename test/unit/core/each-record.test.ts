import { describe, expect, test } from "vitest";
import { type EachRecord, eachRecord } from "../../../shared/each-record.ts";
import { testWorld } from "../../support/world.ts";

const oddThrows: readonly [string, unknown][] = [
  ["undefined", undefined],
  ["null", null],
  ["a text", "text"],
  ["a number", 0],
  ["a symbol", Symbol("s")],
  ["an error", new Error("x")],
  ["an object without prototype, which has no text", Object.create(null)],
  [
    "an error whose fields cannot be read",
    Object.defineProperty(new Error("x"), "stack", {
      get: () => {
        throw undefined;
      },
    }),
  ],
  ["a revoked proxy", revokedProxy()],
];

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function setup(handle: EachRecord<string>["handle"], sideBySide = 1) {
  const world = testWorld();
  const each: EachRecord<string> = { sideBySide, log: world.log, identify: (record) => `id-${record}`, handle };
  return { world, run: (...records: string[]) => eachRecord(records, each) };
}

const failures = (...ids: string[]) => ({ batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })) });

describe("a batch in which something is thrown (BUG-014)", () => {
  test.each(oddThrows)("%s fails its own record only, and is logged", async (_name, thrown) => {
    const { run, world } = setup(async (record) => {
      if (record === "b") throw thrown;
      return true;
    });
    expect(await run("a", "b", "c")).toEqual(failures("id-b"));
    expect(world.lines).toMatchObject([{ level: "error", fields: { itemIdentifier: "id-b" } }]);
  });

  test("synchronously, fails its own record only too", async () => {
    const { run } = setup((record) => {
      if (record === "a") throw new Error("not even a promise");
      return Promise.resolve(true);
    });
    expect(await run("a", "b")).toEqual(failures("id-a"));
  });

  test.each([1, 3, 10])("by every record, lists every one of them, %i at a time", async (sideBySide) => {
    const { run } = setup(() => Promise.reject(undefined), sideBySide);
    const answer = await run("a", "b", "c", "d", "e");
    expect(answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier).sort()).toEqual([
      "id-a",
      "id-b",
      "id-c",
      "id-d",
      "id-e",
    ]);
  });
});

test("a record that is not done is listed, one that is done is not", async () => {
  const { run, world } = setup(async (record) => record !== "b");
  expect(await run("a", "b")).toEqual(failures("id-b"));
  expect(world.lines).toEqual([]);
});

test("no records, no failures", async () => {
  expect(await setup(async () => true).run()).toEqual(failures());
});

test("as many records as told are handled at a time, and the answer waits for the slowest", async () => {
  let now = 0;
  let most = 0;
  let ended = 0;
  const { run } = setup(async (record) => {
    now += 1;
    most = Math.max(most, now);
    for (let tick = 0; tick < Number(record); tick++) await Promise.resolve();
    now -= 1;
    ended += 1;
    return true;
  }, 3);
  await run("9", "1", "30", "2", "5", "1");
  expect([most, now, ended]).toEqual([3, 0, 6]);
});

test("one at a time, a record begins only when the one before has ended (I3)", async () => {
  const told: string[] = [];
  const { run } = setup(async (record) => {
    told.push(`+${record}`);
    await Promise.resolve();
    told.push(`-${record}`);
    return true;
  });
  await run("a", "b");
  expect(told).toEqual(["+a", "-a", "+b", "-b"]);
});
