/** Asks a model for a plan until one is accepted: each refusal goes back to it, with the call, the field, the rule and the value. */
import { createHash } from "node:crypto";
import type { Plan, PlannedRun } from "./plan.ts";
import type { Answer, Refusal } from "./read-answer.ts";

export type Harness = {
  /** Gets the conversation so far and says the next plan. */
  model(conversation: readonly string[]): Promise<Plan>;
  send(planned: PlannedRun): Promise<void>;
  answerTo(commandId: string): Promise<Answer>;
};

const mostPlans = 5;

/**
 * @returns the conversation, once a plan has been accepted; its run has the task's id.
 * @throws Error where the model does not come to a plan that is accepted, or the task runs by another plan.
 */
export async function planned(taskId: string, goal: string, harness: Harness): Promise<readonly string[]> {
  const conversation = [goal];
  for (let nth = 1; nth <= mostPlans; nth++) {
    const plan = await harness.model(conversation);
    const written = JSON.stringify(plan);
    conversation.push(written);
    // A refused start makes no run, so the task keeps its run's id; each plan is a command of its own, and the same one after a restart.
    const commandId = `${taskId}-${createHash("sha256").update(written).digest("hex").slice(0, 16)}`;
    await harness.send({ run_id: taskId, command_id: commandId, plan });
    const answer = await harness.answerTo(commandId);
    if (answer.outcome === "accepted") return conversation;
    // Nothing that the model could mend: this harness, before it died, or another one has had a plan accepted.
    if (answer.refusal.code === "run_id_taken") throw new Error(`task ${taskId} runs by another plan already`);
    conversation.push(feedbackOn(answer.refusal));
  }
  throw new Error(`none of ${mostPlans} plans was accepted: ${conversation.at(-1)}`);
}

/** What the model is told: enough to mend that call, and nothing of the machinery. */
export function feedbackOn({ code, node, field, rule, value }: Refusal): string {
  const where = node === undefined ? "The plan" : `Call ${JSON.stringify(node)} of the plan`;
  const what = field === undefined ? "It" : `Its field ${field}`;
  const came = value === undefined ? "" : `; you wrote ${value}`;
  return `${where} was refused (${code}), and nothing has been done. ${what} ${rule}${came}. Write the whole plan again.`;
}
