import { expect, test } from "vitest";
import { putParameters, transactItem, updateParameters } from "../../../shared/adapters/expression.ts";
import type { Update } from "../../../shared/write.ts";

const key = { pk: "RUN#r", sk: "NODE#a" };

test("every name and value goes through a placeholder, and the same name has one", () => {
  const write: Update = {
    op: "update",
    name: "claim",
    key,
    set: { status: "RUNNING", epoch: 1 },
    setIfMissing: { open_since_ms: 5 },
    remove: ["not_before_ms"],
    add: { attempts_used: 1 },
    deleteFromSet: { waiting_on: new Set([3]) },
    conditions: [
      { attr: "status", is: "oneOf", values: ["READY", "RUNNING"] },
      {
        anyOf: [
          [{ attr: "epoch", is: "equal", value: 0 }],
          [
            { attr: "epoch", is: "missing" },
            { attr: "pk", is: "exists" },
          ],
        ],
      },
    ],
  };
  expect(updateParameters(write, "table")).toEqual({
    TableName: "table",
    Key: key,
    ConditionExpression:
      "attribute_exists(#n0) AND #n1 IN (:v0, :v1) AND (#n2 = :v2 OR attribute_not_exists(#n2) AND attribute_exists(#n0))",
    UpdateExpression: "SET #n1 = :v3, #n2 = :v4, #n3 = if_not_exists(#n3, :v5) REMOVE #n4 ADD #n5 :v6 DELETE #n6 :v7",
    ExpressionAttributeNames: {
      "#n0": "pk",
      "#n1": "status",
      "#n2": "epoch",
      "#n3": "open_since_ms",
      "#n4": "not_before_ms",
      "#n5": "attempts_used",
      "#n6": "waiting_on",
    },
    ExpressionAttributeValues: {
      ":v0": "READY",
      ":v1": "RUNNING",
      ":v2": 0,
      ":v3": "RUNNING",
      ":v4": 1,
      ":v5": 5,
      ":v6": 1,
      ":v7": new Set([3]),
    },
    ReturnValues: "ALL_NEW",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
});

test("an update without conditions still asks for an existing item, and leaves out empty sections", () => {
  const write: Update = { op: "update", name: "mark", key, set: {}, remove: ["a"], conditions: [] };
  expect(updateParameters(write, "table")).toEqual({
    TableName: "table",
    Key: key,
    ConditionExpression: "attribute_exists(#n0)",
    UpdateExpression: "REMOVE #n1",
    ExpressionAttributeNames: { "#n0": "pk", "#n1": "a" },
    ReturnValues: "ALL_NEW",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
});

test("a put without conditions has no expression, and its key is part of the item", () => {
  expect(putParameters({ op: "put", name: "p", key, item: { n: 1 }, conditions: [] }, "table")).toEqual({
    TableName: "table",
    Item: { ...key, n: 1 },
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
});

test("an action of a transaction asks for the old item and for no new one", () => {
  const action = transactItem({ op: "update", name: "u", key, set: { n: 1 }, conditions: [] }, "table");
  expect(action.Update).toMatchObject({ ReturnValuesOnConditionCheckFailure: "ALL_OLD" });
  expect(action.Update).not.toHaveProperty("ReturnValues");
});
