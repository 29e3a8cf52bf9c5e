/** Reads and writes PEM (RFC 7468): labelled blocks of base64. Text between blocks and damaged blocks are skipped. */

export interface PemBlock {
  /** `CERTIFICATE` */
  label: string;
  /** Old forms write `Name: value` before the content. */
  hasHeaders: boolean;
  bytes: Buffer;
}

const BEGIN = "-----BEGIN ";
const DASHES = "-----";
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Yields every block in order. Reads each line once, whatever its content. */
export function* pemBlocks(text: string): Generator<PemBlock> {
  let label: string | undefined;
  let lines: string[] = [];
  for (const line of text.split("\n")) {
    const trimmed = line.trimEnd();
    if (trimmed.startsWith(BEGIN) && trimmed.endsWith(DASHES) && trimmed.length >= BEGIN.length + DASHES.length) {
      label = trimmed.slice(BEGIN.length, -DASHES.length);
      lines = [];
    } else if (label !== undefined && trimmed === `-----END ${label}-----`) {
      const block = blockOf(label, lines);
      label = undefined;
      if (block) yield block;
    } else if (label !== undefined) lines.push(trimmed);
  }
}

function blockOf(label: string, lines: readonly string[]): PemBlock | undefined {
  const headers = lines.findIndex((line) => !line.includes(":"));
  const content = headers < 0 ? "" : lines.slice(headers).join("").replaceAll(/\s/g, "");
  if (!BASE64.test(content) || content.length % 4 !== 0) return undefined;
  return { label, hasHeaders: headers !== 0 && lines.length > 0, bytes: Buffer.from(content, "base64") };
}

/** One block, in lines of 64 characters. */
export function writePem(label: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** The certificates of a bundle as PEM blocks, each as it stands in the text; they are not parsed. */
export const splitCertificates = (text: string): string[] => text.match(CERTIFICATE) ?? [];
