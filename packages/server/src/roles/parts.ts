/** The parts of a process as a list: each is built from the ones before it, so it starts after and stops before them. */
export interface Part {
  start?(signal: AbortSignal): void | Promise<void>;
  stop?(): void | Promise<void>;
}

export async function startParts(parts: readonly Part[], signal: AbortSignal): Promise<void> {
  for (const part of parts) await part.start?.(signal);
}

export async function stopParts(parts: readonly Part[]): Promise<void> {
  for (const part of parts.toReversed()) await part.stop?.();
}
