-- A finding, and the hover at it as the screen shows it.
local t = require('support')

local function screen(win)
  local place = vim.fn.win_screenpos(win)
  local lines = {}
  for row = place[1], place[1] + vim.api.nvim_win_get_height(win) - 1 do
    local cells = {}
    for column = place[2], place[2] + vim.api.nvim_win_get_width(win) - 1 do
      table.insert(cells, vim.fn.screenstring(row, column))
    end
    table.insert(lines, vim.trim(table.concat(cells)))
  end
  return table.concat(lines, '\n')
end

t.run(function()
  local findings = t.findings()
  t.go_to(findings[1])
  vim.fn.search('async_store_smem', 'b', vim.fn.line('.'))
  vim.lsp.buf.hover()
  local float = t.until_('the hover', function()
    for _, win in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(win).relative ~= '' then
        return win
      end
    end
  end)
  local result = { findings = findings, under = t.under(findings[1]), encoding = t.client().offset_encoding }
  -- Without a screen attached, floats are not drawn: the same buffer in a window, concealing what the float conceals.
  local level, buffer = vim.wo[float].conceallevel, vim.api.nvim_win_get_buf(float)
  vim.cmd('sbuffer ' .. buffer .. ' | only')
  vim.wo.conceallevel, vim.wo.concealcursor = level, 'n'
  vim.cmd('redraw')
  result.hover = screen(0)
  return result
end)
