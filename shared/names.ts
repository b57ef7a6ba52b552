/** The names that a deployer gives: of tools, and of the pools of workers that run them. */
import * as z from "zod";
import { fixed } from "./limits.ts";

export const toolNameSchema = z
  .string()
  .regex(
    new RegExp(`^[A-Za-z0-9_.-]{1,${fixed.toolNameLength}}$`),
    `must be 1 to ${fixed.toolNameLength} of A-Z a-z 0-9 _ . -`,
  );

/** Part of a construct's id too, so nothing that CloudFormation would drop. */
export const poolNameSchema = z
  .string()
  .regex(
    new RegExp(`^[A-Za-z0-9-]{1,${fixed.poolNameLength}}$`),
    `must be 1 to ${fixed.poolNameLength} of A-Z a-z 0-9 -`,
  );
