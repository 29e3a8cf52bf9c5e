/** Checks whether a PEM certificate and a private key belong together. Error messages are those of Kubernetes. */
import { X509Certificate, createPrivateKey } from "node:crypto";

const BLOCK = /-----BEGIN ([^-\n]+)-----[\s\S]*?-----END \1-----/g;

/** Only the first blocks of a PEM file matter, so a hostile file with many blocks is cut off. */
const MAX_BLOCKS = 64;

interface Block {
  type: string;
  pem: string;
}

function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  for (const [pem, type = ""] of text.matchAll(BLOCK)) {
    blocks.push({ type, pem });
    if (blocks.length === MAX_BLOCKS) break;
  }
  return blocks;
}

const isKeyType = (type: string): boolean => type === "PRIVATE KEY" || type.endsWith(" PRIVATE KEY");
const typesOf = (blocks: readonly Block[]): string => `[${blocks.map(({ type }) => type).join(" ")}]`;

/** Whether a PEM file holds at least one valid certificate. */
export const hasCertificate = (text: string): boolean =>
  blocksOf(text).some(({ type, pem }) => type === "CERTIFICATE" && read(() => new X509Certificate(pem)) !== undefined);

/** Undefined when the two are a pair. */
export function tlsPairProblem(certificateText: string, keyText: string): string | undefined {
  const certificateBlocks = blocksOf(certificateText);
  const certificate = certificateBlocks.find(({ type }) => type === "CERTIFICATE");
  if (!certificate) {
    if (certificateBlocks.length === 0) return "tls: failed to find any PEM data in certificate input";
    if (certificateBlocks.length === 1 && isKeyType(certificateBlocks[0]?.type ?? "")) {
      return "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched";
    }
    return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: ${typesOf(certificateBlocks)}`;
  }
  const keyBlocks = blocksOf(keyText);
  const key = keyBlocks.find(({ type }) => isKeyType(type));
  if (!key) {
    if (keyBlocks.length === 0) return "tls: failed to find any PEM data in key input";
    if (keyBlocks.length === 1 && keyBlocks[0]?.type === "CERTIFICATE")
      return "tls: found a certificate rather than a key in the PEM for the private key";
    return (
      `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of ` +
      `the following types: ${typesOf(keyBlocks)}`
    );
  }
  const parsed = read(() => new X509Certificate(certificate.pem));
  if (!parsed) return "x509: malformed certificate";
  const privateKey = read(() => createPrivateKey(key.pem));
  if (!privateKey) return "tls: failed to parse private key";
  return parsed.checkPrivateKey(privateKey) ? undefined : "tls: private key does not match public key";
}

/** Undefined when parsing fails: the caller reports the error. */
function read<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
