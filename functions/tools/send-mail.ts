import * as z from "zod";
import { defineTool } from "../../shared/tool.ts";
import { callProvider } from "./provider-call.ts";

/** Tells the customer the code, once: the provider knows the key of a mail that it has sent. */
export const sendMail = defineTool({
  name: "send-mail",
  input: z.strictObject({ customer: z.string().min(1), code: z.string().min(1) }),
  output: z.object({ mail_id: z.string() }),
  effect: "idempotent",
  execute: (mail, context) => callProvider("/mails", mail, context),
});
