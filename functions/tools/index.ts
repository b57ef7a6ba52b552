/** The tools of this deployment. The commands and the worker are bundled from this same list, so they can never differ. */
import type { AnyTool } from "../../shared/tool.ts";
import { http } from "../http/index.ts";
import { buyVoucher } from "./buy-voucher.ts";
import { buyVoucherAtMostOnce } from "./buy-voucher-at-most-once.ts";
import { buyVoucherReconcilable } from "./buy-voucher-reconcilable.ts";
import { noop } from "./noop.ts";
import { saveVoucher } from "./save-voucher.ts";
import { sendMail } from "./send-mail.ts";
import { sleep } from "./sleep.ts";

export const tools: readonly AnyTool[] = [
  noop,
  sleep,
  buyVoucher,
  buyVoucherReconcilable,
  buyVoucherAtMostOnce,
  saveVoucher,
  sendMail,
  http,
];
