/**
 * The authority and the certificate of the webhooks, in a Secret that all their processes share. The process that finds
 * none, or one that is about to expire, makes it; every process publishes the authority to the API server, where an
 * upgrade or a person may have removed it.
 *
 * Writes: the Secret; our APIServices, if it is asked to; `caBundle` of the webhook configurations, of definitions with a conversion, and of our APIServices.
 */
import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import {
  createCertificateAuthority,
  HUB,
  isAlreadyExists,
  isConflict,
  isNotFound,
  openCertificateAuthority,
} from "@flotilla/apimachinery";
import type { KeyPair, Kind } from "@flotilla/apimachinery";
import { equalJson, InvariantError } from "@flotilla/base";
import type { Clock, DeepReadonly, Json, Log } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import {
  AGGREGATED_GROUPS,
  INSTALLED_LABELS,
  planApiServices,
  WEBHOOKS_CERTIFICATE,
  WEBHOOKS_NAME,
} from "@flotilla/flotilla";
import {
  APIService,
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  Secret,
  ValidatingWebhookConfiguration,
} from "@flotilla/kubernetes";

const DAY_MS = 24 * 60 * 60 * 1000;
/** Certificates live a year, authorities ten. */
const RENEW_BEFORE_MS = 60 * DAY_MS;
/** An authority is trusted before it signs: every API server has read it before the last one expires. */
const REPLACE_AUTHORITY_BEFORE_MS = 400 * DAY_MS;
const MAX_ATTEMPTS = 5;

interface ServedCertificate {
  serving: KeyPair;
  /** PEM of every authority that the API server trusts for it. */
  authorities: string;
}

export interface WebhookCertificates {
  /** The certificate of now, made if there is none or it expires soon. */
  ensure(signal: AbortSignal): Promise<ServedCertificate>;
  /** Makes the API server trust the authorities. Returns the number of objects that were changed. */
  publish(authorities: string, signal: AbortSignal): Promise<number>;
}

export interface WebhookCertificatesOptions {
  client: Client;
  namespace: string;
  /** Names of the server besides that of its Service. */
  hosts?: readonly string[];
  /** Makes our APIServices, where an installation cannot. */
  makesApiServices?: boolean;
  clock: Clock;
  log: Log;
}

export function createWebhookCertificates(options: WebhookCertificatesOptions): WebhookCertificates {
  const { client, namespace, clock, log } = options;
  const service = `${WEBHOOKS_NAME}.${namespace}.svc`;
  const hosts = [
    WEBHOOKS_NAME,
    `${WEBHOOKS_NAME}.${namespace}`,
    service,
    `${service}.cluster.local`,
    ...(options.hosts ?? []),
  ];
  const key = { cluster: HUB, namespace, name: WEBHOOKS_CERTIFICATE };

  async function ensure(signal: AbortSignal): Promise<ServedCertificate> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const present = await find(client, Secret, key, { signal });
      const kept = present && readSecret(present);
      const planned = await planCertificates(kept, hosts, clock);
      if (kept && planned === kept) return servedOf(kept);
      try {
        const data = encode(planned);
        if (present) await client.update(Secret, HUB, { ...present, data }, { signal });
        else
          await client.create(
            Secret,
            HUB,
            {
              apiVersion: "v1",
              kind: "Secret",
              metadata: { name: WEBHOOKS_CERTIFICATE, namespace, labels: { ...INSTALLED_LABELS } },
              type: "Opaque",
              data,
            },
            { signal },
          );
        log.info("certificate of the webhooks written", { validTo: new X509Certificate(planned.certificate).validTo });
        return servedOf(planned);
      } catch (error) {
        // Another process was faster: its certificate is as good.
        if (!isConflict(error) && !isAlreadyExists(error)) throw error;
      }
    }
    throw new InvariantError(`${WEBHOOKS_CERTIFICATE} changed ${MAX_ATTEMPTS} times while it was written`);
  }

  return {
    ensure,
    async publish(authorities, signal) {
      const made = options.makesApiServices ? await makeApiServices(client, namespace, signal) : 0;
      return made + (await publishAuthorities(client, namespace, authorities, signal));
    },
  };
}

/** What the Secret has. */
interface KeptCertificates {
  authority: KeyPair;
  /** PEM of authorities that signed before. */
  former: string;
  certificate: string;
  key: string;
}

/** The same certificates if they are good for long enough, otherwise new ones. */
export async function planCertificates(
  kept: KeptCertificates | undefined,
  hosts: readonly string[],
  clock: Clock,
): Promise<KeptCertificates> {
  const isFor = (certificate: string): boolean => {
    const parsed = new X509Certificate(certificate);
    return hosts.every((host) => (isIP(host) ? parsed.checkIP(host) : parsed.checkHost(host)) !== undefined);
  };
  const isGood = kept !== undefined && leftMs(kept.certificate, clock) > RENEW_BEFORE_MS && isFor(kept.certificate);
  if (isGood) return kept;
  const isLasting = kept !== undefined && leftMs(kept.authority.certificate, clock) > REPLACE_AUTHORITY_BEFORE_MS;
  const authority = isLasting
    ? openCertificateAuthority(kept.authority, clock)
    : await createCertificateAuthority({ clock, commonName: "flotilla-webhooks-ca" });
  const { certificate, key } = await authority.issueServing(hosts);
  return {
    authority: { certificate: authority.certificate, key: authority.key },
    former: isLasting ? kept.former : (kept?.authority.certificate ?? ""),
    certificate,
    key,
  };
}

const leftMs = (certificate: string, clock: Clock): number =>
  new X509Certificate(certificate).validToDate.getTime() - clock.now();

const servedOf = ({ authority, former, certificate, key }: KeptCertificates): ServedCertificate => ({
  serving: { certificate, key },
  authorities: `${authority.certificate}${former}`,
});

const FILES = {
  authority: "ca.crt",
  authorityKey: "ca.key",
  former: "former-ca.crt",
  certificate: "tls.crt",
  key: "tls.key",
} as const;

function encode({ authority, former, certificate, key }: KeptCertificates): Record<string, string> {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  return {
    [FILES.authority]: base64(authority.certificate),
    [FILES.authorityKey]: base64(authority.key),
    [FILES.former]: base64(former),
    [FILES.certificate]: base64(certificate),
    [FILES.key]: base64(key),
  };
}

/** Undefined for a Secret that lacks a part: it is written again. */
function readSecret({ data = {} }: DeepReadonly<Secret>): KeptCertificates | undefined {
  const text = (name: string): string => Buffer.from(data[name] ?? "", "base64").toString();
  const [authority, authorityKey, certificate, key] = [
    text(FILES.authority),
    text(FILES.authorityKey),
    text(FILES.certificate),
    text(FILES.key),
  ];
  if ([authority, authorityKey, certificate, key].includes("")) return undefined;
  return { authority: { certificate: authority, key: authorityKey }, former: text(FILES.former), certificate, key };
}

/** Also in place of those that the API server made for our definitions. */
async function makeApiServices(client: Client, namespace: string, signal: AbortSignal): Promise<number> {
  let made = 0;
  for (const wanted of planApiServices({ namespace }) as unknown as APIService[]) {
    const { name } = wanted.metadata;
    const found = await find(client, APIService, { cluster: HUB, name }, { signal });
    if (found?.spec?.service?.namespace === namespace && found.spec.service.name === WEBHOOKS_NAME) continue;
    await client.apply(APIService, HUB, wanted, { force: true, signal });
    made += 1;
  }
  return made;
}

async function publishAuthorities(
  client: Client,
  namespace: string,
  authorities: string,
  signal: AbortSignal,
): Promise<number> {
  const caBundle = Buffer.from(authorities).toString("base64");
  let changed = 0;
  const isOurs = (service: DeepReadonly<{ namespace?: string; name?: string }> | undefined): boolean =>
    service?.namespace === namespace && service.name === WEBHOOKS_NAME;
  const patch = async (kind: Kind, name: string, operations: Json): Promise<void> => {
    await client.patch(kind, { cluster: HUB, name }, operations, { type: "json", signal });
    changed += 1;
  };

  for (const kind of [MutatingWebhookConfiguration, ValidatingWebhookConfiguration] as const) {
    const found = await find(
      client,
      kind as Kind<ValidatingWebhookConfiguration>,
      { cluster: HUB, name: WEBHOOKS_NAME },
      { signal },
    );
    const operations = (found?.webhooks ?? []).flatMap(({ clientConfig }, index) =>
      isOurs(clientConfig.service) && clientConfig.caBundle !== caBundle
        ? [{ op: "add", path: `/webhooks/${index}/clientConfig/caBundle`, value: caBundle }]
        : [],
    );
    if (found && operations.length > 0)
      await patch(kind, WEBHOOKS_NAME, [unchangedSince(found.metadata.resourceVersion), ...operations]);
  }
  const { items } = await client.list(CustomResourceDefinition, { cluster: HUB, signal });
  for (const { metadata, spec } of items) {
    const config = spec.conversion?.webhook?.clientConfig;
    if (isOurs(config?.service) && config?.caBundle !== caBundle)
      await patch(CustomResourceDefinition, metadata.name, [
        { op: "add", path: "/spec/conversion/webhook/clientConfig/caBundle", value: caBundle },
      ]);
  }
  for (const { group, version } of AGGREGATED_GROUPS) {
    const name = `${version}.${group}`;
    const found = await find(client, APIService, { cluster: HUB, name }, { signal });
    if (found && isOurs(found.spec?.service) && !equalJson(found.spec?.caBundle ?? null, caBundle))
      await patch(APIService, name, [{ op: "add", path: "/spec/caBundle", value: caBundle }]);
  }
  return changed;
}

/** The positions in the list must still be those that were read. */
const unchangedSince = (resourceVersion: string | undefined): Json => ({
  op: "test",
  path: "/metadata/resourceVersion",
  value: resourceVersion ?? "",
});

/** Whether an error says that what was to be changed has changed or is gone, so that the next round does it. */
export const isForNextRound = (error: unknown): boolean => isConflict(error) || isNotFound(error);
