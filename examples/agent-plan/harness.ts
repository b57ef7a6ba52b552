/** Asks a model for a plan until one is accepted: each refusal goes back to it, with the call, the field, the rule and the value. */
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
 * @throws Error where the model does not come to a plan that is accepted.
 */
export async function planned(taskId: string, goal: string, harness: Harness): Promise<readonly string[]> {
  const conversation = [goal];
  for (let nth = 1; nth <= mostPlans; nth++) {
    const plan = await harness.model(conversation);
    conversation.push(JSON.stringify(plan));
    // A refused start makes no run, so the task keeps its run's id; each command needs an id of its own.
    const commandId = `${taskId}-${nth}`;
    await harness.send({ run_id: taskId, command_id: commandId, plan });
    const answer = await harness.answerTo(commandId);
    if (answer.outcome === "accepted") return conversation;
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
