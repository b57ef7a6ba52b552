/**
 * What stands for `@aws-sdk/credential-provider-node` in the bundles. A function has one source of credentials, its environment
 * (configuration-envvars.html); the package's own chain of files, sign-ons and metadata services is some 100 KB that none asks.
 */

type Credentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
};

/** Its options choose among sources, of which there is one here. @throws Error, when asked, that names the variable that is missing. */
export const defaultProvider = () => async (): Promise<Credentials> => {
  const sessionToken = process.env.AWS_SESSION_TOKEN;
  return {
    accessKeyId: given("AWS_ACCESS_KEY_ID"),
    secretAccessKey: given("AWS_SECRET_ACCESS_KEY"),
    // Keys of a user have none; a local AWS may come with such.
    ...(sessionToken === undefined || sessionToken === "" ? {} : { sessionToken }),
  };
};

function given(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "")
    throw new Error(`environment variable ${name} must hold a function's credentials; Lambda sets it`);
  return value;
}

/** The package has these too, and whoever imports it may use them. Its own margin is five minutes. */
export const credentialsWillNeedRefresh = ({ expiration }: Credentials): boolean => expiration !== undefined;
export const credentialsTreatedAsExpired = ({ expiration }: Credentials): boolean =>
  expiration !== undefined && expiration.getTime() - Date.now() < 300_000;
