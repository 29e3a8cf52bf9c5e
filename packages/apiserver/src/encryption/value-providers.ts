/**
 * Encrypts and decrypts stored values, in the formats of Kubernetes: a prefix that names the provider and the key, then
 * the ciphertext. The key of the entry is authenticated with `aesgcm`, so a value cannot be moved to another object.
 */
import { FlotillaError } from "@flotilla/base";
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { open, seal } from "./secretbox.ts";

/** How a value was encrypted by a provider whose keys change while the server runs. Shared by values of one key. */
export interface StoredForm {
  /** Whether the provider would encrypt with this key now. */
  isCurrent(): boolean;
}

export interface ValueProvider {
  /** `k8s:enc:aesgcm:v1:key1:`; empty for values that are not encrypted. */
  readonly prefix: string;
  encrypt(value: Uint8Array, key: string): Uint8Array;
  /** `value` has the prefix. Throws when it is not what was written. Awaited only for keys that are elsewhere. */
  decrypt(value: Uint8Array, key: string): Uint8Array | Promise<Uint8Array>;
  /** Of a value that was decrypted. Unset for providers whose keys do not change. */
  formOf?(value: Uint8Array): StoredForm | undefined;
}

/** The beginning of every encrypted value. */
export const ENCRYPTED = Buffer.from("k8s:enc:");
const GCM_NONCE_BYTES = 12;
const GCM_TAG_BYTES = 16;
const CBC_BLOCK_BYTES = 16;

export const identityProvider: ValueProvider = { prefix: "", encrypt: (value) => value, decrypt: (value) => value };

/** AES-GCM with a random nonce: a key should encrypt fewer than 2^32 values. */
export function aesGcmProvider(name: string, secret: Uint8Array): ValueProvider {
  const prefix = `k8s:enc:aesgcm:v1:${name}:`;
  const head = Buffer.from(prefix);
  const algorithm = `aes-${secret.length * 8}-gcm` as "aes-256-gcm";
  return {
    prefix,
    encrypt(value, key) {
      const nonce = randomBytes(GCM_NONCE_BYTES);
      const cipher = createCipheriv(algorithm, secret, nonce).setAAD(Buffer.from(key));
      return Buffer.concat([head, nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()]);
    },
    decrypt(value, key) {
      const nonceEnd = head.length + GCM_NONCE_BYTES;
      if (value.length < nonceEnd + GCM_TAG_BYTES) throw new FlotillaError("Encryption", "the value is too short");
      const cipher = createDecipheriv(algorithm, secret, value.subarray(head.length, nonceEnd))
        .setAAD(Buffer.from(key))
        .setAuthTag(value.subarray(-GCM_TAG_BYTES));
      return Buffer.concat([cipher.update(value.subarray(nonceEnd, -GCM_TAG_BYTES)), cipher.final()]);
    },
  };
}

/** AES-CBC with PKCS #7 padding. Not authenticated: `aesgcm` also finds values that were changed. */
export function aesCbcProvider(name: string, secret: Uint8Array): ValueProvider {
  const prefix = `k8s:enc:aescbc:v1:${name}:`;
  const head = Buffer.from(prefix);
  const algorithm = `aes-${secret.length * 8}-cbc`;
  return {
    prefix,
    encrypt(value) {
      const iv = randomBytes(CBC_BLOCK_BYTES);
      const cipher = createCipheriv(algorithm, secret, iv);
      return Buffer.concat([head, iv, cipher.update(value), cipher.final()]);
    },
    decrypt(value) {
      const ivEnd = head.length + CBC_BLOCK_BYTES;
      const cipher = createDecipheriv(algorithm, secret, value.subarray(head.length, ivEnd));
      return Buffer.concat([cipher.update(value.subarray(ivEnd)), cipher.final()]);
    },
  };
}

const SECRETBOX_NONCE_BYTES = 24;

/** XSalsa20 with Poly1305. The key of the entry is not authenticated: a value can be moved to another object. */
export function secretboxProvider(name: string, secret: Uint8Array): ValueProvider {
  const prefix = `k8s:enc:secretbox:v1:${name}:`;
  const head = Buffer.from(prefix);
  return {
    prefix,
    encrypt(value) {
      const nonce = randomBytes(SECRETBOX_NONCE_BYTES);
      return Buffer.concat([head, nonce, seal(value, nonce, secret)]);
    },
    decrypt(value) {
      const nonceEnd = head.length + SECRETBOX_NONCE_BYTES;
      return open(value.subarray(nonceEnd), value.subarray(head.length, nonceEnd), secret);
    },
  };
}
