/** Who clients may be, from the flags of a process: identity providers, and which requests may be anonymous. */
import {
  anyOf,
  createIssuerKeys,
  createJwtTokens,
  readAuthenticationConfiguration,
  SERVICE_ACCOUNT_ISSUER,
} from "@flotilla/apiserver";
import type { AuthenticationConfiguration, ExternalTokens, FrontProxySettings } from "@flotilla/apiserver";
import { UsageError } from "@flotilla/base";
import type { Clock, Json, Log } from "@flotilla/base";
import type { IdentityOptions } from "@flotilla/cli";
import { FLOTILLA_GROUP } from "@flotilla/flotilla";
import { postTo } from "../process/kubeconfig-post.ts";
import { createTokenWebhook } from "./token-webhook.ts";
import { readOption } from "../process/read-option.ts";
import { createFetchJson } from "./fetch-json.ts";

export interface OpenedIdentity {
  /** Unset without other issuers. */
  externalTokens: ExternalTokens | undefined;
  /** Unset keeps the default. */
  anonymous: AuthenticationConfiguration["anonymous"];
  /** Unset without authenticating proxies. */
  proxies: FrontProxySettings | undefined;
  /** PEM: the authorities of kubelets' certificates; unset accepts any. */
  kubeletAuthority: string | undefined;
}

/** Throws `UsageError` and `ConfigurationError`. */
export async function openIdentity(
  options: IdentityOptions,
  { clock, log }: { clock: Clock; log: Log },
): Promise<OpenedIdentity> {
  const configuration = await readConfigurationOf(options);
  const issuers = configuration?.issuers ?? [];
  const external: ExternalTokens[] = [];
  if (issuers.length > 0)
    external.push(
      createJwtTokens({
        issuers: issuers.map(({ certificateAuthority, ...issuer }) => ({
          ...issuer,
          keys: createIssuerKeys({
            issuer: issuer.url,
            discoveryUrl: issuer.discoveryUrl,
            fetchJson: createFetchJson(certificateAuthority),
            clock,
            log,
          }),
        })),
        reservedGroups: [FLOTILLA_GROUP],
        clock,
      }),
    );
  if (options.tokenWebhookConfig !== undefined) {
    const post = await postTo(options.tokenWebhookConfig);
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
  const { kubeletCertificateAuthority: kubelets } = options;
  return {
    externalTokens: anyOf(external),
    anonymous: configuration?.anonymous,
    proxies: options.requestHeader && (await openProxies(options.requestHeader)),
    kubeletAuthority:
      kubelets === undefined ? undefined : await readOption("--kubelet-certificate-authority", kubelets),
  };
}

async function openProxies({
  clientCaFile,
  ...headers
}: NonNullable<IdentityOptions["requestHeader"]>): Promise<FrontProxySettings> {
  const clientCa = await readOption("--requestheader-client-ca-file", clientCaFile);
  return { ...headers, clientCa, reservedGroups: [FLOTILLA_GROUP] };
}

async function readConfigurationOf({
  authenticationConfig: file,
  oidc,
}: IdentityOptions): Promise<AuthenticationConfiguration | undefined> {
  if (oidc && file !== undefined)
    throw new UsageError("give either --authentication-config or the --oidc-… flags, not both");
  if (oidc) {
    const ca = oidc.caFile === undefined ? undefined : await readOption("--oidc-ca-file", oidc.caFile);
    return readAuthenticationConfiguration(configurationOf(oidc, ca), "the --oidc-… flags", SERVICE_ACCOUNT_ISSUER);
  }
  return file === undefined
    ? undefined
    : readAuthenticationConfiguration(await readOption("--authentication-config", file), file, SERVICE_ACCOUNT_ISSUER);
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
