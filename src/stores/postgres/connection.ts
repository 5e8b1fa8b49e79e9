/** A connection, as `pg` has it. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
  /** With `true` the connection is ended instead of used again. */
  release(isBroken?: boolean): void;
}

export interface PostgresResult {
  readonly command: string;
  readonly rows: readonly unknown[];
}

/** Connections, as `Pool` of `pg` has them. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
  end(): Promise<void>;
}
