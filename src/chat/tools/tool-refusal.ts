/** Why a tool can do nothing; told to the model. */
export class ToolRefusal extends Error {
  override readonly name = 'ToolRefusal';
}
