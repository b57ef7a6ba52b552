import { describe, expect, it } from "vitest";
import { readSettings } from "../../infra/app-settings.ts";

const settings = (context: Readonly<Record<string, unknown>>) => readSettings((name) => context[name]);

describe("the settings of the command line", () => {
  it("have defaults, so that a bare deploy makes a stack that is kept", () => {
    expect(settings({})).toEqual({
      stackName: "Leasehold",
      namespace: "leasehold",
      removable: false,
      tools: expect.stringMatching(/functions\/tools\/index\.ts$/),
    });
  });

  it("are read from the texts that a shell gives", () => {
    expect(settings({ namespace: "shop", removable: "true", limits: '{"leaseMs":60000}' })).toMatchObject({
      namespace: "shop",
      removable: true,
      limits: { leaseMs: 60_000 },
    });
  });

  it.each([
    ["removable", "yes", 'context removable must be true or false, got "yes"'],
    ["limits", "leaseMs=5", 'context limits must be a JSON object of numbers, got "leaseMs=5"'],
    ["limits", '{"leaseMs":"5"}', "context limits must be a JSON object of numbers"],
    ["stackName", "my stack", "context stackName must be a text that matches"],
    ["tools", "", 'context tools must be a text that is not empty, got ""'],
  ])("name the field, its rule and what came when %s is %j", (name, value, message) => {
    expect(() => settings({ [name]: value })).toThrow(message);
  });
});
