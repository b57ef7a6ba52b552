/** What programs must be told to speak with a local AWS, and with the stack that is deployed there. */
export const localRegion = "us-east-1";
/** The account that MiniStack and LocalStack have when the access key names none. */
export const localAccount = "000000000000";

/** Credentials are dummies, so nothing of this can reach a real account. */
export const localAwsEnv = (endpoint: string): Readonly<Record<string, string>> => ({
  AWS_ENDPOINT_URL: endpoint,
  AWS_REGION: localRegion,
  AWS_DEFAULT_REGION: localRegion,
  AWS_ACCESS_KEY_ID: "test",
  AWS_SECRET_ACCESS_KEY: "test",
});

export type DeploymentEnv = {
  /** That of the stack; behind it, for a further Leasehold in one stack, what its outputs begin with. */
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
};

const tableName = "TableName";

/** One for each Leasehold in the stack, the first of the stack first. The outputs are those that the construct makes. */
export function stackEnvs(stackName: string, outputs: Readonly<Record<string, string>>): readonly DeploymentEnv[] {
  const prefixes = Object.keys(outputs).flatMap((name) =>
    name.endsWith(tableName) ? [name.slice(0, -tableName.length)] : [],
  );
  return prefixes.sort().flatMap((prefix) => {
    const table = outputs[`${prefix}TableName`];
    const commands = outputs[`${prefix}CommandsQueueUrl`];
    const values = outputs[`${prefix}ValuesBucketName`];
    // A table of the user's own has no such queue.
    if (table === undefined || commands === undefined) return [];
    return {
      name: prefix === "" ? stackName : `${stackName}-${prefix}`,
      env: {
        LEASEHOLD_STACK: stackName,
        LEASEHOLD_TABLE: table,
        LEASEHOLD_COMMANDS_QUEUE_URL: commands,
        ...(values === undefined ? {} : { LEASEHOLD_VALUES_BUCKET: values }),
      },
    };
  });
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** One word of a command for a person to copy, who may have spaces in the names of folders. */
export const asWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : quoted(text));

/** Lines for a shell to read. */
export const asExports = (env: Readonly<Record<string, string>>): string =>
  Object.entries(env)
    .map(([name, value]) => `export ${name}=${quoted(value)}\n`)
    .join("");
