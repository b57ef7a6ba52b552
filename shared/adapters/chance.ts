/** Randomness of the operating system: ids must not be guessed, nor be the same in two environments thawed from one image. */
import { randomBytes } from "node:crypto";
import type { Chance } from "../ports.ts";

const fractionBytes = 6;

export const systemChance: Chance = {
  fraction: () => randomBytes(fractionBytes).readUIntBE(0, fractionBytes) / 2 ** (8 * fractionBytes),
  /** 128 bits in 22 characters of A-Z a-z 0-9 - _. */
  id: () => randomBytes(16).toString("base64url"),
};
