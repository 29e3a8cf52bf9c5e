/**
 * Who clients may be, from the flags of a process: identity providers, and which requests may be anonymous. Files are read again
 * when they change.
 */
import {
  anyOf,
  createIssuerKeys,
  createJwtTokens,
  readAuthenticationConfiguration,
  SERVICE_ACCOUNT_ISSUER,
} from "@flotilla/apiserver";
import type {
  AuthenticationConfiguration,
  ExternalTokens,
  FrontProxySettings,
  IdentityMetrics,
  IssuerKeys,
} from "@flotilla/apiserver";
import { UsageError } from "@flotilla/base";
import type { Clock, Json, Log, Timer } from "@flotilla/base";
import type { IdentityOptions } from "@flotilla/cli";
import { FLOTILLA_GROUP } from "@flotilla/flotilla";
import { followConfiguration } from "../process/follow-configuration.ts";
import { postTo } from "../process/kubeconfig-post.ts";
import { createTokenWebhook } from "./token-webhook.ts";
import { readOption } from "../process/read-option.ts";
import { createFetchJson } from "./fetch-json.ts";

export interface OpenedIdentity {
  /** Unset without other issuers. */
  externalTokens: ExternalTokens | undefined;
  /** What holds now; unset keeps the default. */
  anonymous(): AuthenticationConfiguration["anonymous"];
  /** Unset without authenticating proxies. */
  proxies: OpenedProxies | undefined;
  /** PEM, as it is now: the authorities of kubelets' certificates; unset accepts any. */
  kubeletAuthority: (() => string) | undefined;
  /** Files are no longer followed. */
  close(): void;
}

interface OpenedProxies {
  readonly settings: FrontProxySettings;
  /** Calls `use` when the authority changes; it throws for one that it does not accept. */
  follow(use: (settings: FrontProxySettings) => void): void;
}

export interface IdentityDependencies {
  clock: Clock;
  log: Log;
  metrics: Pick<IdentityMetrics, "reloaded">;
}

/** Follows the files of flags until it is closed. */
type Follow = (
  flag: string,
  content: string,
  source: { read(): Promise<string>; use(content: string): void | Promise<void> },
) => void;

/** Throws `UsageError` and `ConfigurationError`. */
export async function openIdentity(options: IdentityOptions, deps: IdentityDependencies): Promise<OpenedIdentity> {
  const { clock, log, metrics } = deps;
  const following: Timer[] = [];
  const onReload = (flag: string) => (status: "success" | "failure") => metrics.reloaded(flag, status, clock.now());
  const follow: Follow = (flag, content, source) => {
    following.push(followConfiguration({ flag, content, ...source, onReload: onReload(flag) }, { clock, log }));
  };
  const providers = await openProviders(options, follow, deps);
  const external: ExternalTokens[] = providers ? [providers.tokens] : [];
  if (options.tokenWebhookConfig !== undefined) {
    const flag = "--authentication-token-webhook-config-file";
    const { post } = await postTo(options.tokenWebhookConfig, { flag, clock, log, onReload: onReload(flag) });
    external.push(
      createTokenWebhook({
        post: async (body, signal) => JSON.parse(await post(body, signal)) as Json,
        reservedGroups: [FLOTILLA_GROUP],
        cacheMs: options.tokenWebhookCacheMs,
        clock,
        log,
      }),
    );
  }
  return {
    externalTokens: anyOf(external),
    anonymous: () => providers?.anonymous(),
    proxies: options.requestHeader && (await openProxies(options.requestHeader, follow)),
    kubeletAuthority: await openKubeletAuthority(options.kubeletCertificateAuthority, follow),
    close() {
      for (const each of following) each.cancel();
    },
  };
}

async function openKubeletAuthority(file: string | undefined, follow: Follow): Promise<(() => string) | undefined> {
  if (file === undefined) return undefined;
  const flag = "--kubelet-certificate-authority";
  const read = (): Promise<string> => readOption(flag, file);
  let current = await read();
  follow(flag, current, { read, use: (content) => void (current = content) });
  return () => current;
}

async function openProxies(
  { clientCaFile, ...headers }: NonNullable<IdentityOptions["requestHeader"]>,
  follow: Follow,
): Promise<OpenedProxies> {
  const flag = "--requestheader-client-ca-file";
  const read = (): Promise<string> => readOption(flag, clientCaFile);
  const settingsOf = (clientCa: string): FrontProxySettings => ({
    ...headers,
    clientCa,
    reservedGroups: [FLOTILLA_GROUP],
  });
  const content = await read();
  return {
    settings: settingsOf(content),
    follow: (use) => follow(flag, content, { read, use: (changed) => use(settingsOf(changed)) }),
  };
}

interface Providers {
  readonly tokens: ExternalTokens;
  anonymous(): AuthenticationConfiguration["anonymous"];
}

/** Undefined without flags that configure providers. */
async function openProviders(
  { authenticationConfig: file, oidc }: IdentityOptions,
  follow: Follow,
  deps: IdentityDependencies,
): Promise<Providers | undefined> {
  if (oidc && file !== undefined)
    throw new UsageError("give either --authentication-config or the --oidc-… flags, not both");
  const flag = "--authentication-config";
  const read = async (): Promise<string | undefined> => {
    if (file !== undefined) return readOption(flag, file);
    if (!oidc) return undefined;
    const ca = oidc.caFile === undefined ? undefined : await readOption("--oidc-ca-file", oidc.caFile);
    return configurationOf(oidc, ca);
  };
  const content = await read();
  if (content === undefined) return undefined;
  const keys = createKeptKeys(deps);
  const load = (text: string): { tokens: ExternalTokens; anonymous: AuthenticationConfiguration["anonymous"] } => {
    const source = file ?? "the --oidc-… flags";
    const { issuers, anonymous } = readAuthenticationConfiguration(text, source, SERVICE_ACCOUNT_ISSUER);
    const tokens = createJwtTokens({
      issuers: issuers.map((issuer) => ({ ...issuer, keys: keys.of(issuer) })),
      reservedGroups: [FLOTILLA_GROUP],
      clock: deps.clock,
    });
    keys.dropOthers(issuers);
    return { tokens, anonymous };
  };
  let current = load(content);
  follow(file === undefined ? "--oidc-ca-file" : flag, content, {
    read: async () => (await read()) ?? content,
    use: (changed) => void (current = load(changed)),
  });
  return {
    tokens: { authenticate: (...token) => current.tokens.authenticate(...token) },
    anonymous: () => current.anonymous,
  };
}

type Issuer = AuthenticationConfiguration["issuers"][number];

/** The keys of providers. Those of a provider that a changed configuration still names stay known. */
function createKeptKeys({ clock, log }: Pick<IdentityDependencies, "clock" | "log">): {
  of(issuer: Issuer): IssuerKeys;
  dropOthers(issuers: readonly Issuer[]): void;
} {
  const kept = new Map<string, IssuerKeys>();
  const idOf = ({ url, discoveryUrl, certificateAuthority = "" }: Issuer): string =>
    JSON.stringify([url, discoveryUrl, certificateAuthority]);
  return {
    of(issuer) {
      const { url, discoveryUrl, certificateAuthority } = issuer;
      const known = kept.get(idOf(issuer));
      if (known) return known;
      const fetchJson = createFetchJson(certificateAuthority);
      const made = createIssuerKeys({ issuer: url, discoveryUrl, fetchJson, clock, log });
      kept.set(idOf(issuer), made);
      return made;
    },
    dropOthers(issuers) {
      const ids = new Set(issuers.map(idOf));
      for (const id of kept.keys()) if (!ids.has(id)) kept.delete(id);
    },
  };
}

/** The configuration that kube-apiserver makes of its flags. */
function configurationOf(oidc: NonNullable<IdentityOptions["oidc"]>, certificateAuthority: string | undefined): string {
  const { issuerUrl, clientId, usernameClaim, groupsClaim, requiredClaims } = oidc;
  if (!clientId) throw new UsageError("--oidc-issuer-url needs --oidc-client-id");
  const defaultPrefix = usernameClaim === "email" ? "" : `${issuerUrl}#`;
  const prefix = oidc.usernamePrefix === "-" ? "" : (oidc.usernamePrefix ?? defaultPrefix);
  return JSON.stringify({
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AuthenticationConfiguration",
    jwt: [
      {
        issuer: { url: issuerUrl, audiences: [clientId], certificateAuthority },
        claimMappings: {
          username: { claim: usernameClaim, prefix },
          groups: groupsClaim === undefined ? undefined : { claim: groupsClaim, prefix: oidc.groupsPrefix ?? "" },
        },
        claimValidationRules: requiredClaims.map((text) => {
          const [claim = "", ...value] = text.split("=");
          if (claim === "" || value.length === 0)
            throw new UsageError(`--oidc-required-claim: '${text}' is not CLAIM=VALUE`);
          return { claim, requiredValue: value.join("=") };
        }),
      },
    ],
  });
}
