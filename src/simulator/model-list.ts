import { findModel } from '../tokens/catalog.ts';
import { catalog } from '../tokens/catalog-data.ts';
import type { ModelInfo } from '../tokens/model-info.ts';
import type { Problem, Refused } from './problem.ts';

/** Whose shape the list of models is wanted in: both providers have it under the same path. */
export type ListShape = 'anthropic' | 'openai';

/** A model in the words of either provider. */
interface ListedModel {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** `GET /v1/models` or `GET /v1/models/{id}`. */
export function readModels(id: string | undefined, shape: ListShape): { readonly body: object } | Refused {
  const write: (model: ModelInfo) => ListedModel = shape === 'anthropic' ? anthropicModel : openaiModel;
  if (id === undefined) {
    const data = catalog.filter(({ provider }) => provider === shape).map(write);
    return { body: shape === 'anthropic' ? anthropicPage(data) : { object: 'list', data } };
  }
  const model = findModel(id);
  return model === undefined ? { problem: unknownModel(id, shape) } : { body: write({ ...model, id }) };
}

function unknownModel(id: string, shape: ListShape): Problem {
  return shape === 'anthropic'
    ? { status: 404, message: `model: ${id}` }
    : {
        status: 404,
        message: `The model '${id}' does not exist or you do not have access to it.`,
        code: 'model_not_found',
        param: 'model',
      };
}

function anthropicModel(model: ModelInfo): ListedModel {
  const { id, asOf, windowTokens, maxInputTokens, maxOutputTokens } = model;
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: `${asOf}-01T00:00:00Z`,
    max_input_tokens: maxInputTokens ?? windowTokens,
    max_tokens: maxOutputTokens ?? null,
  };
}

function anthropicPage(data: readonly ListedModel[]): object {
  return {
    data,
    has_more: false,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}

function openaiModel({ id, asOf, provider }: ModelInfo): ListedModel {
  return { id, object: 'model', created: Date.parse(`${asOf}-01T00:00:00Z`) / 1000, owned_by: provider };
}
