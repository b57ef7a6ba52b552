/** One mail, wherever a worker is killed, through a provider that would send it twice if it was asked twice. */
import { expect, test } from "vitest";
import type { AnyTool } from "../../shared/tool.ts";
import { callOutside, clock, crashAtEveryStep, simulate } from "../../testing/index.ts";
import { type Mail, type Mailbox, sendMail, sendMailOnce } from "./send-mail.ts";

const filedAfterMs = 60_000;

/** Every mail that was sent, and a sent box that shows each a minute later. */
function world() {
  const sent: Mail[] = [];
  let lastSentAtMs = Number.NEGATIVE_INFINITY;
  const looks: string[] = [];
  const mailbox: Mailbox = {
    send: (mail) =>
      callOutside("send", () => {
        lastSentAtMs = clock.nowMs();
        sent.push(mail);
      }),
    lookUp: (messageId) =>
      callOutside("look up", () => {
        const hasCaughtUp = clock.nowMs() >= lastSentAtMs + filedAfterMs;
        const isThere = sent.some((mail) => mail.messageId === messageId);
        const found = hasCaughtUp ? (isThere ? "there" : "not_there") : "not_known_yet";
        looks.push(found);
        return found;
      }),
  };
  return { sent, looks, mailbox };
}

const mail = { to: "ada@example.com", subject: "Your order", text: "It is on its way." };
const nodesOf = (tool: string) => [{ nodeId: "mail", tool, input: mail }];

test("wherever a worker is killed, the mail goes out once", async () => {
  let now = world();
  const found = new Set<string>();
  const tools = () => {
    now = world();
    return [sendMail(now.mailbox)];
  };
  await crashAtEveryStep({ nodes: nodesOf("send-mail"), tools }, (outcome) => {
    expect(outcome.status).toBe("SUCCEEDED");
    expect(now.sent).toEqual([{ ...mail, messageId: Object(outcome.nodes.mail?.output).message_id }]);
    for (const look of now.looks) found.add(look);
  });
  expect([...found].sort()).toEqual(["not_there", "there"]);
});

test("a sent box that has not caught up is asked again, and nothing is sent meanwhile", async () => {
  // Shorter than the minute in which the box files a mail: the first look comes too early.
  const limits = { leaseMs: 6_000, heartbeatMs: 2_000, functionTimeoutMs: 20_000, attemptLimitMs: 10_000 };
  const { calls } = await simulate({ nodes: nodesOf("send-mail"), tools: [sendMail(world().mailbox)], limits });
  const call = calls.findIndex(({ what }) => what === "send");
  const { sent, looks, mailbox } = world();
  const crash = { call, when: "after" } as const;
  const outcome = await simulate({ nodes: nodesOf("send-mail"), tools: [sendMail(mailbox)], limits, crash });
  expect(outcome.status).toBe("SUCCEEDED");
  expect(sent).toHaveLength(1);
  expect(looks[0]).toBe("not_known_yet");
  expect(looks.at(-1)).toBe("there");
});

test("without a sent box the mail goes out at most once, and a person says whether it did", async () => {
  let now = world();
  let doubts = 0;
  const tools = () => {
    now = world();
    return [sendMailOnce(now.mailbox)];
  };
  await crashAtEveryStep({ nodes: nodesOf("send-mail-once"), tools }, async (outcome) => {
    expect(now.sent.length).toBeLessThanOrEqual(1);
    if (outcome.nodes.mail?.status !== "IN_DOUBT") return expect(outcome.status).toBe("SUCCEEDED");
    doubts += 1;
    const [gone] = now.sent;
    const resolved = await outcome.resolve(
      "mail",
      gone === undefined
        ? { resolution: "not_done" }
        : { resolution: "succeeded", output: { message_id: gone.messageId } },
    );
    expect(resolved.status).toBe("SUCCEEDED");
    expect(now.sent).toHaveLength(1);
  });
  expect(doubts).toBeGreaterThan(0);
});

test("control: called idempotent, which this provider is not, the same mail goes out twice", async () => {
  let now = world();
  const tools = (): readonly AnyTool[] => {
    now = world();
    return [{ ...sendMailOnce(now.mailbox), effect: "idempotent" }];
  };
  const run = crashAtEveryStep({ nodes: nodesOf("send-mail-once"), tools }, () => expect(now.sent).toHaveLength(1));
  await expect(run).rejects.toThrow('worker was killed after tool "execute" of node "mail"');
});
