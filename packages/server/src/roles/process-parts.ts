/** The parts of a process as a list: each is built from the ones before it, so it starts after and stops before them. */
export interface Part {
  start?(signal: AbortSignal): void | Promise<void>;
  stop?(): void | Promise<void>;
}

export async function startParts(parts: readonly Part[], signal: AbortSignal): Promise<void> {
  for (const part of parts) await part.start?.(signal);
}

/** A part that fails to stop does not keep the others, such as the store, from stopping; a failure is thrown. */
export async function stopParts(parts: readonly Part[]): Promise<void> {
  const [part, ...earlier] = parts.toReversed();
  if (!part) return;
  try {
    await part.stop?.();
  } finally {
    await stopParts(earlier.toReversed());
  }
}
