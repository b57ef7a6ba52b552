import { Stack } from "aws-cdk-lib";
import type * as lambda from "aws-cdk-lib/aws-lambda";

/** All names and values of one function together (gettingstarted-limits.html). */
const mostBytes = 4_096;

/**
 * The least that the name or address of a resource takes: CloudFormation makes it of the stack's name, the resource's id, which
 * is longer than this for our queues, and a dozen characters of its own.
 */
const referenceBytes = 40;

/**
 * Lets the synth fail for a function whose variables are too large for Lambda, which else only the deploy would find. What other
 * constructs add to them later is counted too.
 */
export function limitEnvironment(owner: lambda.Function): void {
  owner.node.addValidation({
    validate: () => {
      const sizes = Object.entries(variablesOf(owner)).map(([name, value]): readonly [string, number] => [
        name,
        Buffer.byteLength(name) + leastBytes(value),
      ]);
      const all = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
      if (all <= mostBytes) return [];
      const largest = sizes.sort(([, one], [, other]) => other - one).slice(0, 3);
      return [
        `environment variables must be at most ${mostBytes} bytes together, got at least ${all}: ${largest
          .map(([name, bytes]) => `${name} ${bytes}`)
          .join(", ")}`,
      ];
    },
  });
}

function variablesOf(owner: lambda.Function): Readonly<Record<string, unknown>> {
  const { defaultChild } = owner.node;
  const environment: unknown = Stack.of(owner).resolve(Reflect.get(Object(defaultChild), "environment"));
  return { ...Object(Reflect.get(Object(environment), "variables")) };
}

/** Of a value as the template will hold it; what only the deploy knows counts with the least that it can be. */
function leastBytes(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  const [intrinsic, argument] = Object.entries(Object(value))[0] ?? [];
  if (intrinsic === "Ref") return String(argument).startsWith("AWS::") ? 0 : referenceBytes;
  // The separator is not counted: it is empty wherever CDK writes a join.
  if (intrinsic === "Fn::Join" && Array.isArray(argument) && Array.isArray(argument[1]))
    return argument[1].reduce((sum: number, part: unknown) => sum + leastBytes(part), 0);
  return 0;
}
