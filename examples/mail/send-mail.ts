/**
 * A mail through a provider that knows no idempotency keys: each call that arrives is a mail. What saves the day is that the sender
 * chooses the mail's Message-ID (RFC 5322, 3.6.4), and that the sent box can be searched for it.
 */
import * as z from "zod";
import { defineTool, type Reconciled } from "../../shared/tool.ts";

export type Mail = { readonly messageId: string; readonly to: string; readonly subject: string; readonly text: string };
export type Mailbox = {
  send(mail: Mail, signal: AbortSignal): Promise<void>;
  /**
   * What the sent box knows of a mail. It is filed some time after it was sent, so a box that has not caught up says
   * `not_known_yet`, not `not_there`.
   */
  lookUp(messageId: string, signal: AbortSignal): Promise<"there" | "not_there" | "not_known_yet">;
};

const messageIdOf = (operationId: string): string => `<${operationId}@leasehold.example>`;

const input = z.strictObject({ to: z.email(), subject: z.string().min(1), text: z.string() });
const output = z.strictObject({ message_id: z.string() });

/** An attempt that ended without a word is looked up, once its worker is surely dead, and sent again only if it is not there. */
export const sendMail = (mailbox: Mailbox) =>
  defineTool({
    name: "send-mail",
    input,
    output,
    effect: "reconcilable",
    reconcileRetry: { attempts: 10, backoffBaseMs: 30_000, backoffMaxMs: 300_000 },
    async execute(mail, { operationId, signal }) {
      const messageId = messageIdOf(operationId);
      await mailbox.send({ ...mail, messageId }, signal);
      return { message_id: messageId };
    },
    async reconcile(_mail, { operationId, signal }): Promise<Reconciled<z.input<typeof output>>> {
      const messageId = messageIdOf(operationId);
      const found = await mailbox.lookUp(messageId, signal);
      switch (found) {
        case "there":
          return { is: "done", output: { message_id: messageId } };
        case "not_there":
          return { is: "not_done" };
        case "not_known_yet":
          return { is: "unknown" };
        default:
          return found satisfies never;
      }
    },
  });

/** The same without a sent box: after a crash nothing but a person can tell, and nothing is sent until one has. */
export const sendMailOnce = (mailbox: Pick<Mailbox, "send">) =>
  defineTool({
    name: "send-mail-once",
    input,
    output,
    effect: "at_most_once",
    async execute(mail, { operationId, signal }) {
      const messageId = messageIdOf(operationId);
      await mailbox.send({ ...mail, messageId }, signal);
      return { message_id: messageId };
    },
  });
