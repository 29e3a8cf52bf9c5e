/**
 * The configuration of encryption at rest (`apiserver.config.k8s.io/v1` EncryptionConfiguration): which resources, with
 * which providers. The first provider of a resource encrypts; all of them decrypt, so that keys can be rotated.
 */
import { ConfigurationError, field, fieldErrorText, readConfiguration, s } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import { parseDuration } from "@flotilla/cel";
import { aesCbcProvider, aesGcmProvider, identityProvider, secretboxProvider } from "./value-providers.ts";
import type { ValueProvider } from "./value-providers.ts";

const keys = (description: string) =>
  s.optional(
    s.object(description, {
      keys: s.array(
        "The keys; the first encrypts.",
        s.object({ name: s.string("The name of the key."), secret: s.string("The key in base64.") }),
      ),
    }),
  );
const kms = s.optional(
  s.object("Keys of a key management service.", {
    apiVersion: s.string("v2."),
    name: s.string("The name, which is part of the stored values."),
    endpoint: s.string("The socket of the plugin: unix:///path."),
    timeout: s.string("How long an answer may take.", { default: "3s" }),
  }),
);

const CONFIGURATION = {
  kind: "EncryptionConfiguration",
  apiVersions: ["apiserver.config.k8s.io/v1"],
  fields: {
    resources: s.array(
      "What is encrypted, in order.",
      s.object({
        resources: s.array(
          "Resources: secrets, deployments.apps, *.apps, *. for the core group, *.* for all.",
          s.string("A resource."),
        ),
        providers: s.array(
          "The providers; the first encrypts.",
          s.object({
            aesgcm: keys("AES-GCM."),
            aescbc: keys("AES-CBC."),
            identity: s.optional(s.object("Values that are not encrypted.", {})),
            secretbox: keys("XSalsa20 and Poly1305."),
            kms,
          }),
        ),
      }),
    ),
  },
} as const;

/** The providers of some resources. */
export interface EncryptionRule {
  matches(group: string, resource: string): boolean;
  /** The first encrypts. */
  readonly providers: readonly ValueProvider[];
}

const CIPHERS = { aesgcm: aesGcmProvider, aescbc: aesCbcProvider, secretbox: secretboxProvider } as const;
const AES_KEY_BYTES: ReadonlySet<number> = new Set([16, 24, 32]);
const SECRETBOX_KEY_BYTES: ReadonlySet<number> = new Set([32]);
const MAX_TIMEOUT_MS = 60_000;

/** How a key management plugin is called. */
export interface KmsSettings {
  readonly name: string;
  readonly socketPath: string;
  readonly timeoutMs: number;
}

const rejection = (error: FieldError): ConfigurationError => new ConfigurationError(fieldErrorText([error]));

/** Throws `ConfigurationError`. Keys never appear in errors. `createKms` makes the provider of a plugin. */
export function readEncryptionConfiguration(
  content: string,
  file: string,
  createKms: (settings: KmsSettings) => ValueProvider,
): EncryptionRule[] {
  const { resources } = readConfiguration(content, file, CONFIGURATION);
  if (resources.length === 0)
    throw rejection(field.required(`${file}: resources`, "at least one resource is required"));
  return resources.map(({ resources: names, providers }, index) => {
    const at = `${file}: resources[${index}]`;
    if (names.length === 0)
      throw rejection(field.required(`${at}.resources`, "name at least one resource, such as secrets"));
    if (providers.length === 0) throw rejection(field.required(`${at}.providers`, "name at least one provider"));
    const patterns = names.map((name) => patternOf(name, `${at}.resources`));
    return {
      matches: (group, resource) => patterns.some((matches) => matches(group, resource)),
      providers: providers.flatMap((provider, place) => providersOf(provider, `${at}.providers[${place}]`, createKms)),
    };
  });
}

function providersOf(
  provider: {
    aesgcm?: { keys: { name: string; secret: string }[] };
    aescbc?: { keys: { name: string; secret: string }[] };
    identity?: object;
    secretbox?: { keys: { name: string; secret: string }[] };
    kms?: { apiVersion: string; name: string; endpoint: string; timeout: string };
  },
  at: string,
  createKms: (settings: KmsSettings) => ValueProvider,
): ValueProvider[] {
  const [type, ...others] = Object.keys(provider) as (keyof typeof provider)[];
  if (type === undefined || others.length > 0)
    throw rejection(
      field.invalid(at, field.noValue, "exactly one of aesgcm, aescbc, secretbox, kms and identity is required"),
    );
  if (type === "identity") return [identityProvider];
  if (type === "kms") return provider.kms ? [createKms(kmsSettings(provider.kms, `${at}.kms`))] : [];
  const sizes = type === "secretbox" ? SECRETBOX_KEY_BYTES : AES_KEY_BYTES;
  const given = provider[type]?.keys ?? [];
  if (given.length === 0) throw rejection(field.required(`${at}.${type}.keys`, "at least one key is required"));
  return given.map(({ name, secret }, index) => {
    const place = `${at}.${type}.keys[${index}]`;
    if (name === "" || name.includes(":"))
      throw rejection(field.invalid(`${place}.name`, field.noValue, "a name without ':' is required"));
    if (given.findIndex((other) => other.name === name) !== index)
      throw rejection(field.duplicate(`${place}.name`, name));
    const bytes = Buffer.from(secret, "base64");
    if (!sizes.has(bytes.length) || bytes.toString("base64").replace(/=+$/, "") !== secret.trim().replace(/=+$/, ""))
      throw rejection(
        field.invalid(
          `${place}.secret`,
          field.noValue,
          `must be ${type === "secretbox" ? "32" : "16, 24 or 32"} random bytes in base64; ` +
            "'head -c 32 /dev/urandom | base64' makes one",
        ),
      );
    return CIPHERS[type](name, bytes);
  });
}

function kmsSettings(
  own: { apiVersion: string; name: string; endpoint: string; timeout: string },
  at: string,
): KmsSettings {
  const { apiVersion, name, endpoint, timeout } = own;
  if (apiVersion !== "v2") throw rejection(field.notSupported(`${at}.apiVersion`, apiVersion, ["v2"]));
  if (name === "" || name.includes(":"))
    throw rejection(field.invalid(`${at}.name`, field.noValue, "a name without ':' is required"));
  const path = /^unix:\/\/(\/[^@].*)$/.exec(endpoint)?.[1];
  if (path === undefined)
    throw rejection(field.invalid(`${at}.endpoint`, endpoint, "must be a socket such as unix:///run/kms.sock"));
  const nanos = parseDuration(timeout)?.nanos ?? 0n;
  const timeoutMs = Number(nanos / 1_000_000n);
  if (timeoutMs < 1 || timeoutMs > MAX_TIMEOUT_MS)
    throw rejection(field.invalid(`${at}.timeout`, timeout, "must be a duration above 0 and at most 60s"));
  return { name, socketPath: path, timeoutMs };
}

function patternOf(name: string, at: string): (group: string, resource: string) => boolean {
  const dot = name.indexOf(".");
  const [plural, group] = dot < 0 ? [name, ""] : [name.slice(0, dot), name.slice(dot + 1)];
  if (plural === "" || (plural.includes("*") && plural !== "*") || (plural === "*" && dot < 0))
    throw new ConfigurationError(
      `${at}: Invalid value: ${JSON.stringify(name)}: use RESOURCE, RESOURCE.GROUP, *.GROUP, *. for the core group, or *.* for all`,
    );
  if (plural !== "*") return (ownGroup, resource) => ownGroup === group && resource === plural;
  return group === "*" ? () => true : (ownGroup) => ownGroup === group;
}
