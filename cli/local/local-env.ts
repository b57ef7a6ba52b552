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

/** Undefined for a stack that has no Leasehold. The outputs are those that the construct makes. */
export function stackEnv(
  stackName: string,
  outputs: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> | undefined {
  const { TableName, CommandsQueueUrl, ValuesBucketName } = outputs;
  if (TableName === undefined || CommandsQueueUrl === undefined) return undefined;
  return {
    LEASEHOLD_STACK: stackName,
    LEASEHOLD_TABLE: TableName,
    LEASEHOLD_COMMANDS_QUEUE_URL: CommandsQueueUrl,
    ...(ValuesBucketName === undefined ? {} : { LEASEHOLD_VALUES_BUCKET: ValuesBucketName }),
  };
}

/** Lines for a shell to read. */
export const asExports = (env: Readonly<Record<string, string>>): string =>
  Object.entries(env)
    .map(([name, value]) => `export ${name}='${value.replaceAll("'", "'\\''")}'\n`)
    .join("");
