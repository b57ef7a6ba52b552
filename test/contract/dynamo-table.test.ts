import { beforeAll, describe, inject } from "vitest";
import { dynamoTable } from "../../shared/adapters/dynamo-table.ts";
import type { Table } from "../../shared/ports.ts";
import { emulatorTable } from "./emulator-table.ts";
import { tableContract } from "./table-contract.ts";

describe("the table in DynamoDB", () => {
  let table: Table;
  beforeAll(async () => {
    table = dynamoTable(await emulatorTable(inject("endpoint")));
  });
  tableContract(() => table);
});
