/**
 * Credential plugins of kubeconfigs: programs that print credentials, as `client.authentication.k8s.io` specifies.
 *
 * The program runs when credentials are first needed, when they have expired, and when the server rejects them. It runs
 * once at a time, without a shell, and with limits on time and output. Its stderr is quoted when it fails.
 */
import { spawn } from "node:child_process";
import { isObject } from "@flotilla/base";
import type { Clock, JsonObject } from "@flotilla/base";
import { CredentialsError, REPLACE_AT_MOST_EVERY_MS, isPair, sameCredentials } from "./credentials.ts";
import type { Credentials, CredentialSource } from "./credentials.ts";
import { codeOf } from "./explain-failure.ts";

export interface ExecPlugin {
  apiVersion: "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1";
  /** A path, or a name that is looked up in `PATH`. */
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  installHint: string;
  interactiveMode: "Never" | "IfAvailable" | "Always";
  /** Cluster information for the plugin, when it asks for it. */
  cluster?: JsonObject;
}

export interface ExecPluginOptions {
  plugin: ExecPlugin;
  clock: Clock;
  environment: Readonly<Record<string, string | undefined>>;
  /** A user is at the terminal and can answer prompts. */
  isTerminal: boolean;
}

const TIMEOUT_MS = 60_000;
/** Users may have to find their token first. */
const INTERACTIVE_TIMEOUT_MS = 10 * 60_000;
/** A certificate and its key take a few kilobytes. */
const MAX_OUTPUT_BYTES = 1024 * 1024;
const MAX_QUOTED_CHARACTERS = 1024;
/** After a failure, requests fail immediately for this long, so that a broken plugin does not run for each of them. */
const FAILURE_LASTS_MS = 5_000;

interface Given {
  credentials: Credentials;
  expiresMs: number;
  givenMs: number;
}

export function createExecCredentials(options: ExecPluginOptions): CredentialSource {
  const { plugin, clock } = options;
  let given: Given | undefined;
  let failure: { error: unknown; untilMs: number } | undefined;
  let running: Promise<Given> | undefined;

  const run = async (): Promise<Given> => {
    try {
      const { credentials, expiresMs } = readCredential(plugin, await runPlugin(options));
      given = { credentials, expiresMs, givenMs: clock.now() };
      failure = undefined;
      return given;
    } catch (error) {
      failure = { error, untilMs: clock.now() + FAILURE_LASTS_MS };
      throw error;
    } finally {
      running = undefined;
    }
  };
  const renew = (): Promise<Given> => {
    if (failure && clock.now() < failure.untilMs) return Promise.reject(failure.error);
    return (running ??= run());
  };

  return {
    async current() {
      if (given && clock.now() < given.expiresMs) return given.credentials;
      return (await renew()).credentials;
    },
    async replace(refused) {
      if (given && !sameCredentials(given.credentials, refused)) return given.credentials;
      if (given && clock.now() - given.givenMs < REPLACE_AT_MOST_EVERY_MS) return undefined;
      const { credentials } = await renew();
      return sameCredentials(credentials, refused) ? undefined : credentials;
    },
  };
}

function runPlugin({ plugin, clock, environment, isTerminal }: ExecPluginOptions): Promise<string> {
  const { apiVersion, command, args, env, interactiveMode, cluster } = plugin;
  if (interactiveMode === "Always" && !isTerminal)
    return Promise.reject(
      new CredentialsError(
        `the credential plugin ${command} needs a terminal for its prompts, and there is none; run this command in a terminal, or use other credentials`,
      ),
    );
  const interactive = interactiveMode !== "Never" && isTerminal;
  const info = { apiVersion, kind: "ExecCredential", spec: { interactive, cluster } };
  const timeoutMs = interactive ? INTERACTIVE_TIMEOUT_MS : TIMEOUT_MS;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env: { ...environment, ...env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
      stdio: [interactive ? "inherit" : "ignore", "pipe", interactive ? "inherit" : "pipe"],
      windowsHide: true,
    });
    const output: Buffer[] = [];
    let length = 0;
    let errorOutput = "";
    const end = (finish: () => void): void => {
      timer.cancel();
      finish();
    };
    const giveUp = (why: string): void =>
      end(() => {
        child.kill("SIGKILL");
        // Programs that the plugin started may hold the other ends open.
        child.stdout?.destroy();
        child.stderr?.destroy();
        reject(new CredentialsError(`the credential plugin ${command} ${why}`));
      });
    const timer = clock.after(timeoutMs, () =>
      giveUp(`did not finish within ${timeoutMs / 1000} s; run it manually to see what it waits for`),
    );
    child.stdout?.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > MAX_OUTPUT_BYTES) giveUp(`printed more than ${MAX_OUTPUT_BYTES} bytes; is it a credential plugin?`);
      else output.push(chunk);
    });
    child.stderr?.on(
      "data",
      (chunk: Buffer) => (errorOutput = (errorOutput + chunk.toString("utf8")).slice(-MAX_QUOTED_CHARACTERS)),
    );
    child.once("error", (error) => end(() => reject(explainStart(plugin, error))));
    child.once("close", (code, signal) =>
      end(() => {
        if (code === 0) return resolve(Buffer.concat(output).toString("utf8"));
        const how = code === null ? `was killed by ${signal ?? "a signal"}` : `failed with exit code ${code}`;
        reject(
          new CredentialsError(
            `the credential plugin ${command} ${how}${errorOutput.trim() === "" ? "; run it manually to see why" : `: ${errorOutput.trim()}`}`,
          ),
        );
      }),
    );
  });
}

function explainStart({ command, installHint }: ExecPlugin, error: Error): CredentialsError {
  const hint =
    installHint === ""
      ? "install it, or check the command in the kubeconfig and your PATH"
      : installHint.slice(0, MAX_QUOTED_CHARACTERS);
  if (codeOf(error) === "ENOENT")
    return new CredentialsError(`the credential plugin ${command} was not found; ${hint}`, { cause: error });
  return new CredentialsError(`the credential plugin ${command} could not be started; check that it is executable`, {
    cause: error,
  });
}

/** Parses the plugin's output. The output is never quoted: it holds secrets. */
function readCredential({ apiVersion, command }: ExecPlugin, text: string): Pick<Given, "credentials" | "expiresMs"> {
  const wrong = (what: string): CredentialsError => new CredentialsError(`the credential plugin ${command} ${what}`);
  let printed: unknown;
  try {
    printed = JSON.parse(text);
  } catch {
    // The parser's error would quote the output.
    throw wrong("did not print JSON; it should print an ExecCredential");
  }
  if (!isObject(printed) || printed["kind"] !== "ExecCredential") throw wrong("did not print an ExecCredential");
  if (printed["apiVersion"] !== apiVersion)
    throw wrong(
      `is configured for ${apiVersion} but printed ${JSON.stringify(printed["apiVersion"] ?? "")}; make them match`,
    );
  const { status } = printed;
  if (!isObject(status)) throw wrong("printed no status");
  const token = textIn(status, "token");
  const cert = textIn(status, "clientCertificateData");
  const key = textIn(status, "clientKeyData");
  if ((cert === undefined) !== (key === undefined))
    throw wrong("printed only one of certificate and key; both are required");
  if (token === undefined && cert === undefined) throw wrong("printed neither a token nor a certificate with its key");
  if (cert !== undefined && key !== undefined && !isPair(cert, key))
    throw wrong("printed a certificate and a key that are not a matching PEM pair");
  const expires = textIn(status, "expirationTimestamp");
  const expiresMs = expires === undefined ? Number.POSITIVE_INFINITY : Date.parse(expires);
  if (Number.isNaN(expiresMs)) throw wrong("printed an invalid expirationTimestamp");
  return { credentials: { token, cert, key }, expiresMs };
}

function textIn(status: JsonObject, field: string): string | undefined {
  const value = status[field];
  return typeof value === "string" && value !== "" ? value : undefined;
}
