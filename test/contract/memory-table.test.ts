import { describe } from "vitest";
import { memoryTable } from "../../shared/adapters/memory-table.ts";
import { tableContract } from "./table-contract.ts";

describe("the table in memory", () => tableContract(() => memoryTable()));
