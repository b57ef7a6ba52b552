/** Leasehold's tools in this bench: buy, save and mail, in each of the three classes. */
import type { z } from "zod";
import { buyVoucher } from "../../../functions/tools/buy-voucher.ts";
import { callKeyless, callProvider, lookUp } from "../../../functions/tools/provider-call.ts";
import { saveVoucher } from "../../../functions/tools/save-voucher.ts";
import { sendMail } from "../../../functions/tools/send-mail.ts";
import { type AnyTool, defineTool, type Tool, type ToolContext } from "../../../shared/tool.ts";
import { passGate } from "./pass-gate.ts";

type Body = { readonly customer: string };
type Schemas<Input extends z.ZodType<Body>, Output extends z.ZodType> = Pick<Tool<Input, Output>, "input" | "output">;

function inEachClass<Input extends z.ZodType<Body>, Output extends z.ZodType>(
  step: string,
  path: string,
  { input, output }: Schemas<Input, Output>,
): readonly AnyTool[] {
  const gated = async <Answer>(body: Body, call: () => Promise<Answer>): Promise<Answer> => {
    if (step === "buy") await passGate("before", body.customer);
    return call();
  };
  const referring = (body: Body, { operationId }: ToolContext) => ({ ...body, reference: operationId });
  return [
    defineTool({
      name: `${step}-idempotent`,
      input,
      output,
      effect: "idempotent",
      execute: (body, context) => gated(body, () => callProvider(path, body, context)),
    }),
    defineTool({
      name: `${step}-reconcilable`,
      input,
      output,
      effect: "reconcilable",
      execute: (body, context) => gated(body, () => callKeyless(path, referring(body, context), context)),
      reconcile: (_body, context) => lookUp(path, context),
    }),
    defineTool({
      name: `${step}-at_most_once`,
      input,
      output,
      effect: "at_most_once",
      execute: (body, context) => gated(body, () => callKeyless(path, body, context)),
    }),
  ] as readonly AnyTool[];
}

export const tools: readonly AnyTool[] = [
  ...inEachClass("buy", "/vouchers", buyVoucher),
  ...inEachClass("save", "/saved-vouchers", saveVoucher),
  ...inEachClass("mail", "/mails", sendMail),
];
