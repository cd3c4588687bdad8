-- What the scripts beside this file share. Each runs in Neovim with a kernel open, and leaves its answers as JSON.

local M = {}

--- Milliseconds after which a script gives up; nothing is expected to take that long.
local LIMIT = 120000

--- Waits until a function gives something else than nil and false, and returns that.
function M.until_(what, get)
  local found
  local came = vim.wait(LIMIT, function()
    found = get()
    return found and true or false
  end, 10)
  if not came then
    error('waited in vain for ' .. what .. '\n' .. vim.fn.execute('messages'))
  end
  return found
end

--- What is shown of a source ('pallas', 'pallas confirm'): a list, as vim.diagnostic has them.
function M.shown(source)
  return vim.tbl_filter(function(each)
    return each.source == source
  end, vim.diagnostic.get(0))
end

--- Waits for findings and returns them.
function M.findings()
  return M.until_('findings', function()
    local found = M.shown('pallas')
    return #found > 0 and found
  end)
end

--- The text under a diagnostic.
function M.under(each)
  return table.concat(vim.api.nvim_buf_get_text(0, each.lnum, each.col, each.end_lnum, each.end_col, {}), '\n')
end

function M.go_to(each)
  vim.api.nvim_win_set_cursor(0, { each.lnum + 1, each.col })
end

function M.client()
  return vim.lsp.get_clients({ name = 'pallas', bufnr = 0 })[1]
end

--- The titles in the menu of code actions at the cursor; `pick` (a function of the title) chooses one.
function M.menu(pick)
  local titles
  local select = vim.ui.select
  vim.ui.select = function(items, options, on_choice)
    titles = vim.tbl_map(options.format_item, items)
    local chosen
    for _, item in ipairs(items) do
      chosen = chosen or (pick and pick(options.format_item(item)) and item) or nil
    end
    on_choice(chosen)
  end
  vim.lsp.buf.code_action()
  M.until_('the menu', function()
    return titles
  end)
  vim.ui.select = select
  return titles
end

--- Runs a script: its result, or its error, goes to the file that the tests named.
function M.run(script)
  local ok, result = xpcall(script, debug.traceback)
  local file = assert(io.open(vim.env.PALLAS_RESULT, 'w'))
  file:write(vim.json.encode(ok and { result = result } or { error = result }))
  file:close()
  vim.cmd('qall!')
end

return M
